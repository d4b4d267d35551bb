#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "spectr/base/numeric.h"
#include "spectr/base/stopwatch.h"

namespace spectr::bench {

/// Durations of calls.
struct CallTimes {
  double median_microseconds;
  std::size_t calls;
};

/// Calls `work` for about `seconds`, at least 5 and at most 10,000 times.
template <class Work>
CallTimes time_calls(double seconds, const Work& work) {
  std::vector<double> times;
  for (double spent = 0.0; times.size() < 5 || (spent < seconds && times.size() < 10'000);) {
    Stopwatch watch;
    work();
    times.push_back(watch.lap());
    spent += times.back();
  }
  const std::size_t calls = times.size();
  return {1e6 * median(std::move(times)), calls};
}

}  // namespace spectr::bench
