#include "spectr/sampling/feedback.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "spectr/base/logits.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

/// Returns the tokens of positive probability. Their `logit` fields hold probabilities.
RecycledVector<Candidate> possible_tokens(const Distribution& base) {
  RecycledVector<Candidate> possible;
  possible.reserve(base.size());
  for (std::size_t i = 0; i < base.size(); ++i)
    if (const double p = base.probabilities()[i]; p > 0.0) possible.push_back({p, base.token(i)});
  return possible;
}

Distribution distribution_of(RecycledVector<Candidate> kept, std::size_t vocabulary) {
  std::ranges::sort(kept, {}, &Candidate::token);
  RecycledVector<Token> tokens;
  RecycledVector<double> weights;
  for (const auto& [weight, token] : kept) {
    tokens.push_back(token);
    weights.push_back(weight);
  }
  if (tokens.size() == vocabulary) return Distribution::from_weights(std::move(weights));
  return Distribution::from_weights(std::move(tokens), std::move(weights), vocabulary);
}

/// Moves the n likeliest tokens to the front, in order.
void sort_likeliest(RecycledVector<Candidate>& tokens, std::size_t n) {
  std::ranges::partial_sort(tokens, tokens.begin() + static_cast<std::ptrdiff_t>(std::min(n, tokens.size())),
                            before);
}

/// Mirostat 1: returns the number of top tokens whose average surprise is about μ bits, if probabilities
/// follow a power law of the rank. Its exponent is estimated from the likeliest tokens.
std::size_t tokens_of_surprise(const RecycledVector<Candidate>& ranked, double mu, std::size_t vocabulary) {
  constexpr std::size_t estimated_by = 100;
  const std::size_t steps = std::min(estimated_by, ranked.size()) - 1;
  if (steps == 0) return 1;
  double products = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < steps; ++i) {
    const double rank_step = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products += rank_step * std::log(ranked[i].logit / ranked[i + 1].logit);
    squares += rank_step * rank_step;
  }
  const double exponent = products / squares, excess = exponent - 1.0;
  const auto n = static_cast<double>(vocabulary);
  const double scale = excess == 0.0 ? 1.0 / std::log(n) : excess / -std::expm1(-excess * std::log(n));
  const double k = std::pow(scale * std::exp2(mu), 1.0 / exponent);
  if (!(k >= 1.0)) return 1;
  return k >= static_cast<double>(ranked.size()) ? ranked.size() : static_cast<std::size_t>(k);
}

}  // namespace

std::optional<Feedback> Feedback::of(const WarpOptions& o) {
  if (o.mirostat == 1) return Feedback(Kind::mirostat1, o.mirostat_tau, o.mirostat_eta);
  if (o.mirostat == 2) return Feedback(Kind::mirostat2, o.mirostat_tau, o.mirostat_eta);
  if (o.adaptive_target >= 0.0) return Feedback(Kind::adaptive, o.adaptive_target, o.adaptive_decay);
  return std::nullopt;
}

FeedbackState Feedback::start() const {
  if (kind_ != Kind::adaptive) return {.first = 2.0 * target_};
  return {target_ / (1.0 - rate_), 1.0 / (1.0 - rate_)};
}

Distribution Feedback::apply(const Distribution& base, const FeedbackState& state) const {
  if (kind_ == Kind::adaptive) return preferred(base, state);
  RecycledVector<Candidate> kept = possible_tokens(base);
  if (kind_ == Kind::mirostat1) {
    constexpr std::size_t estimated_by = 100;
    sort_likeliest(kept, estimated_by);
    const std::size_t k = tokens_of_surprise(kept, state.first, base.vocabulary());
    if (k > estimated_by) sort_likeliest(kept, k);
    kept.resize(k);
  } else {
    const Candidate best = *std::ranges::min_element(kept, before);
    std::erase_if(kept, [&](const Candidate& c) { return -std::log2(c.logit) > state.first; });
    if (kept.empty()) kept.push_back(best);
  }
  return distribution_of(std::move(kept), base.vocabulary());
}

/// Returns weights that peak at the wanted probability; the loss is quadratic near it, linear farther out.
Distribution Feedback::preferred(const Distribution& base, const FeedbackState& state) const {
  constexpr double width = 0.3, sharpness = 10.0;
  const double wanted = std::clamp(2.0 * target_ - state.first / state.second, 0.0, 1.0);
  RecycledVector<Candidate> weights = possible_tokens(base);
  double nearest = 1.0 / width;
  for (const Candidate& c : weights) nearest = std::min(nearest, std::abs(c.logit - wanted) / width);
  const auto loss = [](double distance) { return sharpness * distance * distance / (1.0 + distance); };
  for (Candidate& c : weights) c.logit = std::exp(loss(nearest) - loss(std::abs(c.logit - wanted) / width));
  return distribution_of(std::move(weights), base.vocabulary());
}

FeedbackState Feedback::after(const FeedbackState& state, const Distribution& base,
                              const Distribution& sampled, Token token) const {
  const double p = (kind_ == Kind::adaptive ? base : sampled)[token];
  if (!(p > 0.0)) return state;
  if (kind_ == Kind::adaptive) return {p + rate_ * state.first, 1.0 + rate_ * state.second};
  return {.first = state.first - rate_ * (-std::log2(p) - target_)};
}

}  // namespace spectr
