#include "spectr/decode/auto/policy.h"

namespace spectr {

double RegretBudget::of_block(const Choice& plain, std::size_t left) const {
  const double max_regret =
      std::max(params_.regret_share * static_cast<double>(emitted_ + left), params_.min_regret) *
      plain.seconds;
  const double counted = regret_ > 0.0 ? std::max(regret_ - std::min(credit_, max_regret), 0.0) : regret_;
  return params_.block_share * (max_regret - counted);
}

Support support_of(const Warp& warp, std::size_t vocabulary) {
  if (warp.is_greedy()) return Support::point;
  return warp.filters(vocabulary) ? Support::cut : Support::whole;
}

Choice Forecast::plain() const {
  return {.seconds = verification_seconds(0.0, 0, 1.0, 0.0)};
}

Choice Forecast::best_by_ngrams(const NgramEstimate& ngrams, std::size_t left, Choice best) const {
  const auto tokens = ngrams.tokens();
  for (std::size_t L = 1; L <= std::min(NgramEstimate::max_length, left); ++L) {
    const double n = capped(tokens[L], left);
    const double seconds = verification_seconds(static_cast<double>(L), L, n, costs_.select.one);
    const Choice choice = {.origin = DraftOrigin::ngrams, .shape = {1, L}, .tokens = n, .seconds = seconds};
    if (beats(choice, best) && affords(seconds)) best = choice;
  }
  return best;
}

}  // namespace spectr
