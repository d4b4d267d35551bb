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

/// The leader's operations: tells the other ranks what to do before it does so itself, and, where each has
/// the logits of some tokens, answers questions about logits with their answers. Questions may come from any
/// threads, between passes.
class LeaderOps final : public ForwardingOps {
 public:
  /// `ops`: of its own part, with the same link.
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

  /// What every rank answers, the leader `mine`. Throws RankFailure.
  std::vector<std::vector<std::byte>> ask(const Question& question, std::span<const std::byte> mine);

 private:
  /// Tells the others what to do, with what `put` writes behind it. False where the communicator has failed.
  template <class Put>
  bool tell(Order what, const Put& put);
  /// Whether all ranks could do what they were told.
  bool all_could();
  SharedLogits& free_logits();

  std::shared_ptr<RankLink> link_;
  Split split_;
  std::size_t vocabulary_;
  std::size_t reserved_ = 0;
  std::mutex mutex_;                                   // of the link
  std::unique_lock<std::mutex> pass_;                  // holds it during a pass
  std::vector<std::unique_ptr<SharedLogits>> logits_;  // those of passes, by place
  SharedLogits* current_ = nullptr;                    // of the pass, and how many rows it wants
  std::size_t wanted_ = 0;
};

}  // namespace spectr
