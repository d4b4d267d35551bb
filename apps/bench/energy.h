#pragma once

#include <cstdint>
#include <span>

namespace spectr::bench {

/// A reading of a power meter.
struct PowerReading {
  double seconds;
  double watts;
};

/// E = ∫ P dt by the trapezoid rule. Requires: times ascending. 0 with fewer than two readings.
double joules(std::span<const PowerReading> readings);

/// How far a counter that runs from 0 to `range` and starts again went between two readings, at most once
/// around.
std::uint64_t counter_advance(std::uint64_t before, std::uint64_t after, std::uint64_t range);

}  // namespace spectr::bench
