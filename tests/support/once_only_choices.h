#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "spectr/base/counter_random.h"

namespace spectr::test {

/// The real generator, which also checks that no random number is used twice: no place is entered a second
/// time, and nothing is drawn before the first place is entered.
class OnceOnlyChoices final : public Choices {
 public:
  explicit OnceOnlyChoices(std::uint64_t seed) : random_(seed) {}

  std::size_t draw(std::span<const double> weights) override {
    if (places_.empty()) ++drawn_nowhere_;
    return random_.draw(weights);
  }

  void enter(const Place& place) override {
    const auto [at, fresh] = places_.insert({place.block, place.node, place.position, place.purpose});
    if (!fresh) again_.push_back(place);
    random_.enter(place);
  }

  const std::vector<Place>& entered_again() const { return again_; }
  std::size_t drawn_nowhere() const { return drawn_nowhere_; }

 private:
  CounterRandom random_;
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, Purpose>> places_;
  std::vector<Place> again_;
  std::size_t drawn_nowhere_ = 0;
};

}  // namespace spectr::test
