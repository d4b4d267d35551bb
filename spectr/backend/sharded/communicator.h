#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// Thrown if a rank does not answer a query about logits, where the interface has no way to return an error.
class RankFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The timeout of a wait for another rank.
enum class Patience {
  usual,    ///< the communicator's timeout: within a pass, ranks are never far apart
  endless,  ///< no timeout: used while models are loaded
};

/// Communication between ranks; rank 0 is the leader. All ranks of a communicator call the same collectives
/// in the same order; send() and receive() are called by the two ranks involved. When a call returns, its
/// results are complete and its arguments can be reused. Errors name the rank that timed out, has gone, or
/// sent a wrong message; they are sticky: later calls return the same error. Not thread-safe.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::size_t rank() const = 0;
  /// Returns the number of participating ranks.
  virtual std::size_t ranks() const = 0;
  /// Returns the number of ranks of the whole job.
  virtual std::size_t all_ranks() const = 0;
  /// Restricts all further calls to the first `ranks` ranks. Every rank calls it itself; nothing is sent.
  /// Requires: rank() < ranks ≤ all_ranks().
  virtual void use_first(std::size_t ranks) = 0;
  /// Returns a name for messages, e.g. "rank 2 (host)".
  virtual std::string name_of(std::size_t rank) const = 0;

  /// Copies the leader's `bytes` to all ranks. The others wait without a timeout: this is how they idle.
  virtual Result<void> broadcast(std::vector<std::byte>& bytes) = 0;
  /// Sends numbers to another rank, which must receive() the same count. Can block until that rank receives.
  virtual Result<void> send(std::size_t to, std::span<const float> numbers) = 0;
  virtual Result<void> receive(std::size_t from, std::span<float> numbers) = 0;
  /// Sets numbers[i] to Σ numbers[i] over all ranks, on every rank. Addition is in rank order, so the result
  /// is bitwise deterministic. Requires: the same size on every rank.
  virtual Result<void> all_reduce_sum(std::span<float> numbers) = 0;
  /// Returns the bytes of all ranks, by rank, on the leader, and an empty list on the others.
  virtual Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> mine,
                                                             Patience patience = Patience::usual) = 0;
};

}  // namespace spectr
