#include "spectr/sampling/warp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/base/sum.h"
#include "spectr/kernels/vector_ops.h"
#include "spectr/sampling/ranking.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The largest logit. Error: a logit that is NaN or +∞, or nothing but −∞.
template <class Number>
Result<double> largest_of(std::span<const Number> logits) {
  if (logits.empty()) return error("there are no logits");
  const double most = largest(logits);
  if (std::isnan(most)) {
    const auto at = std::ranges::find_if(logits, [](Number logit) { return !(logit < infinity); });
    // NaN without a sign: which one it has is chance.
    return error("the logit of token {} is {}", at - logits.begin(), std::isnan(*at) ? Number(NAN) : *at);
  }
  if (most == -infinity) return error("every logit is −∞: no token is possible");
  return most;
}

/// How many of the likeliest candidates have a mass of at least top_p together.
std::size_t nucleus(Ranking& ranking, double largest, double top_p) {
  RecycledVector<double> weights;
  weights.reserve(ranking.size());
  for (const Candidate& c : ranking.all()) weights.push_back(c.logit);
  exp_differences(weights, largest, 1.0);
  const double total = sum_of(weights);
  double mass = 0.0;
  for (std::size_t n = 1; n <= ranking.size(); ++n) {
    mass += std::exp(ranking.first(n)[n - 1].logit - largest);
    if (mass >= top_p * total) return n;
  }
  return ranking.size();
}

}  // namespace

WarpOptions WarpOptions::none() {
  return {.temperature = 1.0, .top_k = 0, .top_p = 1.0, .min_p = 0.0, .logit_bias = {}};
}

Result<Warp> Warp::make(WarpOptions o) {
  if (!(o.temperature >= 0.0) || !std::isfinite(o.temperature)) {
    return error("temperature must be finite and at least 0, got {}", o.temperature);
  }
  if (!(o.top_p >= 0.0 && o.top_p <= 1.0)) return error("top-p must lie in [0, 1], got {}", o.top_p);
  if (!(o.min_p >= 0.0 && o.min_p <= 1.0)) return error("min-p must lie in [0, 1], got {}", o.min_p);
  if (!(o.repeat_penalty > 0.0) || !std::isfinite(o.repeat_penalty)) {
    return error("repeat penalty must be finite and positive, got {}", o.repeat_penalty);
  }
  if (!std::isfinite(o.presence_penalty)) {
    return error("presence penalty must be finite, got {}", o.presence_penalty);
  }
  if (!std::isfinite(o.frequency_penalty)) {
    return error("frequency penalty must be finite, got {}", o.frequency_penalty);
  }
  for (const auto& [token, bias] : o.logit_bias) {
    if (token < 0) return error("logit bias: {} is not a token", token);
    if (std::isnan(bias) || bias == infinity) return error("logit bias of token {} is {}", token, bias);
  }
  return Warp(std::move(o));
}

void Warp::penalise(std::span<double> logits, std::span<const Token> history) const {
  const WarpOptions& o = options_;
  for (const auto& [token, bias] : o.logit_bias) {
    if (static_cast<std::size_t>(token) < logits.size()) logits[static_cast<std::size_t>(token)] += bias;
  }
  if (!reads_history()) return;
  const auto last = history.last(std::min(o.repeat_last_n, history.size()));
  RecycledVector<Token> recent(last.begin(), last.end());
  std::ranges::sort(recent);
  for (auto next = recent.begin(); next != recent.end();) {
    const Token token = *next;
    const auto first = std::exchange(next, std::upper_bound(next, recent.end(), token));
    const auto count = static_cast<double>(next - first);
    if (static_cast<std::size_t>(token) >= logits.size()) continue;
    double& logit = logits[static_cast<std::size_t>(token)];
    logit = logit <= 0.0 ? logit * o.repeat_penalty : logit / o.repeat_penalty;
    logit -= count * o.frequency_penalty + o.presence_penalty;
  }
}

Result<Distribution> Warp::law(const Logits& row, std::span<const Token> history,
                               std::size_t vocabulary) const {
  SPECTR_CHECK(vocabulary >= row.size());
  if (!reads_history() && options_.logit_bias.empty()) {
    return row.visit([&](auto logits) { return law_of(logits, vocabulary); });
  }
  RecycledVector<double> logits(row.size());
  row.visit([&](auto numbers) { std::ranges::copy(numbers, logits.begin()); });
  penalise(logits, history);
  return law_of(std::span<const double>(logits), vocabulary);
}

template <class Number>
Result<Distribution> Warp::law_of(std::span<const Number> logits, std::size_t vocabulary) const {
  const WarpOptions& o = options_;
  SPECTR_TRY(const double largest, largest_of(logits));
  if (o.temperature == 0.0) {
    const auto best = std::ranges::find(logits, static_cast<Number>(largest)) - logits.begin();
    return Distribution::point(static_cast<Token>(best), vocabulary);
  }

  if (!filters(logits.size())) {
    RecycledVector<double> weights(logits.begin(), logits.end());
    exp_differences(weights, largest, std::min(1.0 / o.temperature, 1e300));  // the smallest invert to ∞
    weights.resize(vocabulary, 0.0);
    return Distribution::from_weights(std::move(weights));
  }

  // Candidates below the min-p line never survive; top-p sums over what top-k has left, so with top-p on the
  // line is drawn only afterwards.
  const double line = o.min_p > 0.0 ? largest + std::log(o.min_p) : -infinity;
  const bool top_k = cuts_to_k(logits.size());
  Ranking ranking(top_k ? likeliest_and_more(logits, o.top_k)
                        : at_least(logits, o.top_p < 1.0 ? -infinity : line));
  if (top_k) ranking.keep(o.top_k);
  if (o.top_p < 1.0) ranking.keep(nucleus(ranking, largest, o.top_p));
  RecycledVector<Candidate> kept = std::move(ranking).take();
  std::erase_if(kept, [&](const Candidate& c) { return c.logit < line; });
  std::ranges::sort(kept, {}, &Candidate::token);

  RecycledVector<Token> tokens;
  RecycledVector<double> weights;
  tokens.reserve(kept.size());
  weights.reserve(kept.size());
  for (const Candidate& c : kept) {
    tokens.push_back(c.token);
    weights.push_back(std::exp((c.logit - largest) / o.temperature));
  }
  return Distribution::from_weights(std::move(tokens), std::move(weights), vocabulary);
}

}  // namespace spectr
