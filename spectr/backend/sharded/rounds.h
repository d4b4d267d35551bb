#pragma once

#include <cstddef>

#include "spectr/backend/sharded/communicator.h"
#include "spectr/base/result.h"

namespace spectr {

/// Exchanges without a pass, to measure them: so many, of so many numbers.
struct Rounds {
  std::size_t count, rounds;
};

/// Sums over all ranks. All of them call it. Error: of the communicator.
Result<void> run_sums(Communicator& communicator, const Rounds& rounds);
/// From each rank to the next and from the last to the leader, as a pass goes through layers.
Result<void> run_ring(Communicator& communicator, const Rounds& rounds);

}  // namespace spectr
