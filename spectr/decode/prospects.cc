#include "spectr/decode/prospects.h"

#include <algorithm>

namespace spectr {
namespace {

// Estimates are not exact, and the best of many tends to be one that is too high: drafting has to promise so
// much more than plain decoding.
constexpr double margin = 1.05;

double at_most(double tokens, std::size_t left) {
  return std::min(tokens, static_cast<double>(left));
}

/// Whether `way` promises more than the best one so far.
bool beats(const Way& way, const Way& best) {
  return way.rate() > (best.origin == DraftOrigin::nowhere ? margin : 1.0) * best.rate();
}

}  // namespace

/// The target's pass over so many nodes, a law for every token and, where laws are not cut short by filters,
/// a plan for every token but the bonus.
double Prospects::check_seconds(double nodes, std::size_t length, double tokens, double plan) const {
  const double plans = model_.dense() ? plan * at_most(tokens, length) : 0.0;
  return costs_.target.seconds(1.0 + nodes) + costs_.select.law * tokens + plans;
}

Way Prospects::plain() const {
  return {.seconds = check_seconds(0.0, 0, 1.0, 0.0)};
}

/// K sequences of L tokens from the draft model, which bring so many tokens.
Way Prospects::bringing(double tokens, std::size_t K, std::size_t L) const {
  const SelectCosts& select = costs_.select;
  const double plan = K == 1 ? select.one : select.several;
  double seconds = check_seconds(model_.nodes(K, L), L, tokens, plan);
  // The first draft pass reads what the last block added, the others a level of the tree.
  const double level = model_.nodes(K, L) / static_cast<double>(L);
  seconds += costs_.draft.seconds(read_anyway) + static_cast<double>(L - 1) * costs_.draft.seconds(level);
  // A law of the draft for every node that is drafted below, and what the estimates take.
  seconds += select.law * (1.0 + static_cast<double>(L - 1) * level);
  if (model_.dense()) {
    seconds += AcceptanceEstimate::looks_per_block * (select.several + plan * at_most(tokens, L));
  }
  return {DraftOrigin::model, {K, L}, tokens, seconds};
}

Way Prospects::by_model(std::size_t K, std::size_t L, std::size_t left) const {
  return bringing(at_most(model_.tokens(K)[L], left), K, L);
}

Way Prospects::perfect(std::size_t left) const {
  Way best = plain();
  for (std::size_t L = 1; L <= std::min(most_length, left); ++L) {
    const Way way = bringing(at_most(static_cast<double>(L + 1), left), 1, L);
    if (way.rate() > best.rate()) best = way;
  }
  return best;
}

Way Prospects::best_by_model(std::size_t left) const {
  Way best = plain();
  for (std::size_t K : AcceptanceEstimate::drafts) {
    const auto tokens = model_.tokens(K);
    for (std::size_t L = 1; L <= std::min(most_length, left) && K * L < most_rows; ++L) {
      const Way way = bringing(at_most(tokens[L], left), K, L);
      if (beats(way, best)) best = way;
    }
  }
  return best;
}

Way Prospects::best_by_text(std::size_t left, Way best) const {
  const auto tokens = text_.tokens();
  for (std::size_t L = 1; L <= std::min(NgramEstimate::positions, left); ++L) {
    const double n = at_most(tokens[L], left);
    const double seconds = check_seconds(static_cast<double>(L), L, n, costs_.select.one);
    const Way way = {DraftOrigin::text, {1, L}, n, seconds};
    if (beats(way, best)) best = way;
  }
  return best;
}

}  // namespace spectr
