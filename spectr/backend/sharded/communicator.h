#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// A question about logits that a rank does not answer any more: where only an exception can say so.
class RankFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How long a rank waits for another.
enum class Patience {
  usual,    ///< as long as the communicator was told: between the steps of a pass nobody is far behind
  endless,  ///< as long as it takes: while models are loaded
};

/// What ranks say to each other. Rank 0 leads. All ranks of a communicator call the same functions in the
/// same order, send() and receive() those whom they concern; each call ends when what it gives is there and
/// what it was given need not stay. An error names the rank that has not answered in time, has gone, or has
/// answered something else, and stays: every call after it is that error. Used by one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::size_t rank() const = 0;
  /// Those that take part.
  virtual std::size_t ranks() const = 0;
  /// Those that there are.
  virtual std::size_t all_ranks() const = 0;
  /// From here on the first `ranks` take part, and calls are of them alone; this one is told so itself.
  /// Requires: rank() < ranks ≤ all_ranks().
  virtual void use_first(std::size_t ranks) = 0;
  /// "rank 2 (host)", for messages.
  virtual std::string name_of(std::size_t rank) const = 0;

  /// The leader's bytes come to all. Others wait for them as long as it takes: it is how they wait for work.
  virtual Result<void> broadcast(std::vector<std::byte>& bytes) = 0;
  /// Numbers for another rank, which receive()s as many. A rank that is slow to do so is waited for.
  virtual Result<void> send(std::size_t to, std::span<const float> numbers) = 0;
  virtual Result<void> receive(std::size_t from, std::span<float> numbers) = 0;
  /// On every rank, numbers[i] = Σ numbers[i] of all ranks, added in the order of ranks: the same bits
  /// everywhere, whoever comes first. Requires: as many numbers on every rank.
  virtual Result<void> all_reduce_sum(std::span<float> numbers) = 0;
  /// Everybody's bytes come to the leader, by rank; to the others nothing does.
  virtual Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> mine,
                                                             Patience patience = Patience::usual) = 0;
};

}  // namespace spectr
