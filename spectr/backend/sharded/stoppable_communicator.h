#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "spectr/backend/sharded/communicator.h"

namespace spectr {

/// A leader's communicator that another thread can shut down cleanly while models are being loaded: between
/// two messages, so that no rank waits for the rest of an exchange. Its calls are mutually exclusive.
class StoppableCommunicator final : public Communicator {
 public:
  /// `ranks` must outlive it. Requires: its rank() is 0.
  explicit StoppableCommunicator(Communicator& ranks) : ranks_(ranks) {}

  /// Makes new messages fail from now on, except those that close a model. Thread-safe.
  void stop() { stopped_ = true; }
  /// Waits until no call is in progress, then closes the loaded model and dismisses all ranks on behalf of
  /// the loading thread. Every later call blocks forever, so the process must exit. Returns false and has no
  /// effect if a call is still in progress after `patience`. Thread-safe.
  bool leave(std::chrono::milliseconds patience);

  std::size_t rank() const override { return ranks_.rank(); }
  std::size_t ranks() const override { return ranks_.ranks(); }
  std::size_t all_ranks() const override { return ranks_.all_ranks(); }
  void use_first(std::size_t ranks) override { ranks_.use_first(ranks); }
  std::string name_of(std::size_t rank) const override { return ranks_.name_of(rank); }

  Result<void> broadcast(std::vector<std::byte>& bytes) override;
  Result<void> send(std::size_t to, std::span<const float> numbers) override;
  Result<void> receive(std::size_t from, std::span<float> numbers) override;
  Result<void> all_reduce_sum(std::span<float> numbers) override;
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> mine,
                                                     Patience patience) override;

 private:
  Communicator& ranks_;
  std::timed_mutex mutex_;
  std::atomic<bool> stopped_ = false;
  bool load_pending_ = false;  // a load was sent, but not yet its confirmation
  bool loaded_ = false;        // a model is loaded
};

}  // namespace spectr
