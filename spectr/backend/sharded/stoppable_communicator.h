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

/// The communicator of a leader whose work another thread can end in order while models are being loaded:
/// between two orders, so that no rank waits for the rest of one. Its calls exclude each other.
class StoppableCommunicator final : public Communicator {
 public:
  /// `ranks` must outlive it. Requires: its rank() is 0.
  explicit StoppableCommunicator(Communicator& ranks) : ranks_(ranks) {}

  /// From now on new orders fail, except those that end a model. Thread-safe.
  void stop() { stopped_ = true; }
  /// Waits until no call is in progress, then ends the model that is loaded and dismisses all ranks, in place
  /// of a thread that does not come to it. Every later call waits forever: the process must end. False after
  /// `patience`: a call is still in progress, and nothing was done. Thread-safe.
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
  bool asks_ = false;    // a model was ordered, and not yet whether it is loaded
  bool loaded_ = false;  // a model is there
};

}  // namespace spectr
