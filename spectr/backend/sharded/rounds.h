#pragma once

#include <cstddef>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/result.h"

namespace spectr {

/// A communication benchmark without a pass: `rounds` exchanges of `count` numbers each.
struct Rounds {
  std::size_t count, rounds;
};

/// Runs all-reduces. Must be called by all ranks. Errors: those of the communicator.
Result<void> run_sums(Communicator& communicator, const Rounds& rounds);
/// Sends numbers around the ring of ranks, starting at the leader, like a pass through pipeline stages.
Result<void> run_ring(Communicator& communicator, const Rounds& rounds);

}  // namespace spectr
