#include "spectr/sampling/warp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/base/vector_math.h"
#include "spectr/sampling/ranking.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Error: the likeliest of a row's candidates has a logit that is NaN or +∞, or there is none.
Result<void> check(std::span<const Candidate> candidates) {
  if (candidates.empty()) return error("every logit is −∞: no token is possible");
  const auto [logit, token] = candidates.front();
  if (logit < infinity) return {};
  // NaN without a sign: which one it has is chance.
  return error("the logit of token {} is {}", token, std::isnan(logit) ? NAN : logit);
}

/// The largest logit. Error: a logit that is NaN or +∞, or nothing but −∞.
template <class Number>
Result<double> largest_of(std::span<const Number> logits) {
  const double max = largest(logits);
  if (std::isnan(max) || max == -infinity) SPECTR_TRY_VOID(check(Logits(logits).top(1)));
  return max;
}

/// All tokens with a logit of at least `line` but −∞.
template <class Number>
RecycledVector<Candidate> at_least(std::span<const Number> logits, double line) {
  RecycledVector<Candidate> found;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double logit = logits[i];
    if (logit >= line && logit > -infinity) found.push_back({logit, static_cast<Token>(i)});
  }
  return found;
}

/// The distribution without a filter: of every token.
template <class Number>
Result<Distribution> dense_distribution(std::span<const Number> logits, double temperature,
                                        std::size_t vocabulary) {
  SPECTR_TRY(const double max, largest_of(logits));
  RecycledVector<double> weights(logits.begin(), logits.end());
  exp_differences(weights, max, std::min(1.0 / temperature, 1e300));  // the smallest invert to ∞
  weights.resize(vocabulary, 0.0);
  return Distribution::from_weights(std::move(weights));
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

Result<Distribution> Warp::distribution(const Logits& row, std::span<const Token> history,
                                        std::size_t vocabulary) const {
  SPECTR_CHECK(vocabulary >= row.size());
  if (reads_history() || !options_.logit_bias.empty()) {
    RecycledVector<double> logits(row.size());
    std::visit([&](auto numbers) { std::ranges::copy(numbers, logits.begin()); }, row.values());
    penalise(logits, history);
    return distribution_of(Logits(std::span<const double>(logits)), vocabulary);
  }
  return distribution_of(row, vocabulary);
}

Result<Distribution> Warp::distribution_of(const Logits& row, std::size_t vocabulary) const {
  const WarpOptions& o = options_;
  if (row.size() == 0) return error("there are no logits");
  if (o.temperature == 0.0) {
    const RecycledVector<Candidate> best = row.top(1);
    SPECTR_TRY_VOID(check(best));
    return Distribution::point(best.front().token, vocabulary);
  }
  if (!filters(row.size())) {
    return std::visit([&](auto logits) { return dense_distribution(logits, o.temperature, vocabulary); },
                      row.values());
  }

  // Candidates below the min-p line never survive; top-p sums over what top-k has left, so with top-p on the
  // line is drawn only afterwards.
  const auto line_below = [&o](double max) { return o.min_p > 0.0 ? max + std::log(o.min_p) : -infinity; };
  RecycledVector<Candidate> candidates;
  double max = 0.0;
  if (cuts_to_k(row.size())) {
    candidates = row.top(o.top_k);
    SPECTR_TRY_VOID(check(candidates));
    max = candidates.front().logit;
  } else {
    SPECTR_TRY(max, std::visit([](auto logits) { return largest_of(logits); }, row.values()));
    candidates =
        std::visit([&](auto logits) { return at_least(logits, o.top_p < 1.0 ? -infinity : line_below(max)); },
                   row.values());
  }
  if (o.top_p < 1.0) {
    Ranking ranking(std::move(candidates));
    ranking.keep(nucleus(ranking, max, o.top_p));
    candidates = std::move(ranking).take();
  }
  std::erase_if(candidates, [line = line_below(max)](const Candidate& c) { return c.logit < line; });
  std::ranges::sort(candidates, {}, &Candidate::token);

  RecycledVector<Token> tokens;
  RecycledVector<double> weights;
  tokens.reserve(candidates.size());
  weights.reserve(candidates.size());
  for (const Candidate& c : candidates) {
    tokens.push_back(c.token);
    weights.push_back(std::exp((c.logit - max) / o.temperature));
  }
  return Distribution::from_weights(std::move(tokens), std::move(weights), vocabulary);
}

}  // namespace spectr
