#include "spectr/transport/sequential_plan.h"

#include <algorithm>
#include <array>

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/draw_by_mass.h"

namespace spectr {

Selection SequentialPlan::select(std::span<const Token> drafts, Choices& choices) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (!choices.accept(passes(i, drafts[i]))) continue;
    if (choices.accept(confirm_)) return {drafts[i], true};
    break;
  }
  return {draw_rejected(choices), false};
}

/// Σ leftover over the tokens of all() from `begin` up to `end`.
double SequentialPlan::mass_left(std::size_t begin, std::size_t end) const {
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

Token SequentialPlan::draw_rejected(Choices& choices) const {
  constexpr std::size_t block = 4096;
  bool any = false;
  for (std::size_t begin = 0; begin < all_.size() && !any; begin += block) {
    any = mass_left(begin, std::min(begin + block, all_.size())) > 0.0;
  }
  if (!any) return target_.draw(choices);
  return all_.token(draw_by_mass(
      choices, all_.size(), [this](std::size_t begin, std::size_t end) { return mass_left(begin, end); }));
}

std::optional<Distribution> SequentialPlan::rejected() const {
  RecycledVector<double> weights(all_.size());
  leftover(0, weights);
  if (!(sum_of(weights) > 0.0)) return std::nullopt;
  return all_.distribution(std::move(weights));
}

std::optional<Distribution> SequentialPlan::residual() const {
  return 1.0 - acceptance_ < rounding_of_rejection ? std::nullopt : rejected();
}

// P(Y = y | x₁ … x_k) = c Σ_i [x_i = y] t_i Π_{j<i} (1 − t_j), and the rest of 1 times residual(y), with
// t_i = passes(i, x_i) and c the probability of a confirmation.
Distribution SequentialPlan::conditional(std::span<const Token> drafts) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  RecycledVector<double> distribution(target_.vocabulary(), 0.0);
  double reached = 1.0, refused = 0.0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const double t = std::clamp(passes(i, drafts[i]), 0.0, 1.0);
    distribution[static_cast<std::size_t>(drafts[i])] += reached * t * confirm_;
    refused += reached * t * (1.0 - confirm_);
    reached *= 1.0 - t;
  }
  const std::optional<Distribution> residual = rejected();
  const Distribution& last = residual ? *residual : target_;
  for (std::size_t i = 0; i < last.size(); ++i) {
    distribution[static_cast<std::size_t>(last.token(i))] += (reached + refused) * last.probabilities()[i];
  }
  return Distribution::from_weights(std::move(distribution));
}

}  // namespace spectr
