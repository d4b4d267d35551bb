#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "spectr/backend/sharded/communicator.h"

namespace spectr {

/// Communicators of so many ranks in this process, by rank, each for a thread of its own: numbers that they
/// add stay where they are and are read from there. A rank that waits spins for a moment and then sleeps.
/// `patience`: how long one waits for another, but for broadcasts. They may outlive each other.
std::vector<std::unique_ptr<Communicator>> thread_communicators(std::size_t ranks,
                                                                std::chrono::milliseconds patience);

}  // namespace spectr
