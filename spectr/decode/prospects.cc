#include "spectr/decode/prospects.h"

namespace spectr {
namespace {

constexpr double margin = 1.08;

}  // namespace

bool beats(const Way& way, const Way& best) {
  return way.rate() > (best.origin == DraftOrigin::nowhere ? margin : 1.0) * best.rate();
}

Support support_of(const Warp& warp, std::size_t vocabulary) {
  const WarpOptions& options = warp.options();
  if (options.temperature <= 0.0 || options.top_k == 1) return Support::point;
  return warp.filters(vocabulary) ? Support::cut : Support::whole;
}

double Prospects::check_seconds(double nodes, std::size_t length, double tokens, double plan) const {
  const double plans = dense() ? plan * at_most(tokens, length) : 0.0;
  return costs_.target.seconds(1.0 + nodes, static_cast<double>(text_)) +
         (law_seconds() + costs_.select.likelihood) * tokens + plans;
}

Way Prospects::plain() const {
  return {.seconds = check_seconds(0.0, 0, 1.0, 0.0)};
}

Way Prospects::best_by_text(const NgramEstimate& text, std::size_t left, Way best) const {
  const auto tokens = text.tokens();
  for (std::size_t L = 1; L <= std::min(NgramEstimate::positions, left); ++L) {
    const double n = at_most(tokens[L], left);
    const double seconds = check_seconds(static_cast<double>(L), L, n, costs_.select.one);
    const Way way = {.origin = DraftOrigin::text, .shape = {1, L}, .tokens = n, .seconds = seconds};
    if (beats(way, best) && affords(seconds)) best = way;
  }
  return best;
}

}  // namespace spectr
