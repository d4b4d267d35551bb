#include "apps/bench/energy.h"

namespace spectr::bench {

double joules(std::span<const PowerReading> readings) {
  double sum = 0.0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const PowerReading &a = readings[i - 1], &b = readings[i];
    sum += (a.watts + b.watts) / 2.0 * (b.seconds - a.seconds);
  }
  return sum;
}

std::uint64_t counter_advance(std::uint64_t before, std::uint64_t after, std::uint64_t range) {
  return after >= before ? after - before : after + (range - before);
}

}  // namespace spectr::bench
