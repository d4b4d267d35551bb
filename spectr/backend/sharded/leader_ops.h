#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "spectr/backend/sharded/messages.h"
#include "spectr/backend/sharded/rank_ops.h"
#include "spectr/backend/sharded/split.h"

namespace spectr {

class SharedLogits;

/// The leader's operations: broadcasts each operation to the other ranks before it runs locally. If the
/// vocabulary is split over the ranks, it also answers queries about logits by gathering partial answers.
/// Queries can come from any thread, between passes.
class LeaderOps final : public ForwardingOps {
 public:
  /// `ops` computes the leader's own part. Requires: it uses the same link.
  LeaderOps(std::unique_ptr<RankOps> ops, std::shared_ptr<RankLink> link, Split split,
            std::size_t vocabulary);
  ~LeaderOps() override;

  void reserve(std::size_t rows) override;
  CacheId open_cache(const CacheSize& size) override;
  void close_cache(CacheId cache) override;
  void copy_cache(const CacheCopy& copy) override;
  void begin(const PassBatch& batch) override;
  void head(const HeadSpec& spec) override;
  Result<HeldLogits> finish() override;
  Result<void> check_alive() override;

  /// Returns the answers of all ranks, by rank; the leader's own is `mine`. Throws RankFailure.
  std::vector<std::vector<std::byte>> ask(const Question& question, std::span<const std::byte> mine);

 private:
  /// Broadcasts `what` and the arguments that `put` writes. Returns false if the communicator has failed.
  template <class Put>
  bool tell(Order what, const Put& put);
  /// Returns true if the last message succeeded on all ranks.
  bool all_could();
  SharedLogits& free_logits();

  std::shared_ptr<RankLink> link_;
  Split split_;
  std::size_t vocabulary_;
  std::size_t reserved_ = 0;
  std::mutex mutex_;                                   // guards the link
  std::unique_lock<std::mutex> pass_;                  // holds the lock during a pass
  std::vector<std::unique_ptr<SharedLogits>> logits_;  // pooled, by slot
  SharedLogits* current_ = nullptr;                    // of the current pass; wanted_ is its number of rows
  std::size_t wanted_ = 0;
};

}  // namespace spectr
