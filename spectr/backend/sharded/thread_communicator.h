#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "spectr/backend/sharded/communicator.h"

namespace spectr {

/// Creates communicators for `ranks` ranks in this process, by rank, each for its own thread. All-reduces
/// read the numbers of other ranks in place. A waiting rank spins briefly, then sleeps. `patience` is the
/// timeout of waits, except in broadcasts. The communicators may be destroyed in any order.
std::vector<std::unique_ptr<Communicator>> thread_communicators(std::size_t ranks,
                                                                std::chrono::milliseconds patience);

}  // namespace spectr
