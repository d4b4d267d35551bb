#pragma once

#include <array>
#include <cstdint>

#include "spectr/base/choices.h"

namespace spectr {

/// Philox4x64-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011):
/// a bijection of 256-bit counters under a 128-bit key.
std::array<std::uint64_t, 4> philox4x64(std::array<std::uint64_t, 4> counter,
                                        std::array<std::uint64_t, 2> key);

/// Reproducible choices. Each number is a function of (seed, sample, place, index of the draw within the
/// place) only, so it depends neither on threads nor on other requests.
class CounterRandom final : public Choices {
 public:
  explicit CounterRandom(std::uint64_t seed, std::uint64_t sample = 0) : key_{seed, sample} {}

  std::size_t draw(std::span<const double> weights) override;
  void enter(const Place& place) override {
    place_ = place;
    draws_ = 0;
  }

 private:
  double uniform();  ///< in [0, 1), 53 bits

  std::array<std::uint64_t, 2> key_;
  Place place_;
  std::uint64_t draws_ = 0;
};

}  // namespace spectr
