#pragma once

#include <cstddef>

#include "spectr/base/numeric.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// Numbers copied, added or normalized in about the time of a thread barrier.
constexpr std::size_t numbers_per_thread = 8192;

/// Calls body(row) for each of `rows` rows of `cols` numbers. The threads of the pool share the rows, at
/// least `numbers_per_thread` numbers each; fewer numbers are left to the caller's thread. A row is never
/// split, so its bits do not depend on the number of threads. Requires: cols > 0; body reads and writes no
/// row but its own, and does not throw; no loop of the pool is running on this thread.
template <class Body>
void for_each_row(std::size_t rows, std::size_t cols, ThreadPool& pool, const Body& body) {
  pool.parallel_for(rows, div_up(numbers_per_thread, cols), [&body](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) body(row);
  });
}

}  // namespace spectr
