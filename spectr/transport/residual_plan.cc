#include "spectr/transport/residual_plan.h"

#include <algorithm>
#include <array>

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/draw_by_mass.h"

namespace spectr {

/// Σ leftover over the tokens of all() from `begin` up to `end`.
double ResidualPlan::mass_left(std::size_t begin, std::size_t end) const {
  constexpr std::size_t block = 512;
  std::array<double, block> weights;
  double sum = 0.0;
  for (; begin < end; begin += block) {
    const auto some = std::span(weights).first(std::min(block, end - begin));
    leftover(begin, some);
    sum += sum_of(some);
  }
  return sum;
}

bool ResidualPlan::is_anything_left() const {
  constexpr std::size_t block = 4096;
  for (std::size_t begin = 0; begin < all_.size(); begin += block) {
    if (mass_left(begin, std::min(begin + block, all_.size())) > 0.0) return true;
  }
  return false;
}

Token ResidualPlan::draw_rejected(Choices& choices) const {
  if (!is_anything_left()) return target_.draw(choices);
  const auto mass = [this](std::size_t begin, std::size_t end) { return mass_left(begin, end); };
  return all_.token(draw_by_mass(choices, all_.size(), mass));
}

Distribution ResidualPlan::rejected() const {
  if (!is_anything_left()) return target_;
  RecycledVector<double> weights(all_.size());
  leftover(0, weights);
  return all_.distribution(std::move(weights));
}

std::optional<Distribution> ResidualPlan::residual() const {
  if (1.0 - acceptance() < rounding_of_rejection || !is_anything_left()) return std::nullopt;
  return rejected();
}

}  // namespace spectr
