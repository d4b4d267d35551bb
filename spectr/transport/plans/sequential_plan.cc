#include "spectr/transport/plans/sequential_plan.h"

#include <algorithm>

#include "spectr/base/recycled.h"

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

// P(Y = y | x₁ … x_k) = c Σ_i [x_i = y] t_i Π_{j<i} (1 − t_j), plus the remaining probability times
// residual(y), where t_i = passes(i, x_i) and c is the probability of confirmation.
Distribution SequentialPlan::conditional(std::span<const Token> drafts) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  RecycledVector<double> distribution(target().vocabulary(), 0.0);
  double reached = 1.0, refused = 0.0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const double t = std::clamp(passes(i, drafts[i]), 0.0, 1.0);
    distribution[static_cast<std::size_t>(drafts[i])] += reached * t * confirm_;
    refused += reached * t * (1.0 - confirm_);
    reached *= 1.0 - t;
  }
  const Distribution& last = rejected();
  for (std::size_t i = 0; i < last.size(); ++i) {
    distribution[static_cast<std::size_t>(last.token(i))] += (reached + refused) * last.probabilities()[i];
  }
  return Distribution::from_weights(std::move(distribution));
}

}  // namespace spectr
