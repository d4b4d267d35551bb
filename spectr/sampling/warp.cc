#include "spectr/sampling/warp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/base/vector_math.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Error: the likeliest of a row's candidates has a logit that is NaN or +∞, or there is none.
Result<void> check(std::span<const Candidate> candidates) {
  if (candidates.empty()) return error(ErrorCode::internal, "every logit is −∞: no token is possible");
  const auto [logit, token] = candidates.front();
  if (logit < infinity) return {};
  // NaN without a sign: which one it has is chance.
  return error(ErrorCode::internal, "the logit of token {} is {}", token, std::isnan(logit) ? NAN : logit);
}

/// The largest logit. Error: a logit that is NaN or +∞, or nothing but −∞.
template <class Number>
Result<double> largest_of(std::span<const Number> logits) {
  const double max = largest(logits);
  if (std::isnan(max) || max == -infinity) SPECTR_TRY_VOID(check(Logits(logits).top(1)));
  return max;
}

/// The largest number below `line` that a logit can be: those of at least `line` are above it.
template <class Number>
Number bar_below(double line) {
  constexpr Number lowest = -std::numeric_limits<Number>::infinity();
  const auto bar = static_cast<Number>(line);
  return static_cast<double>(bar) < line ? bar : std::nextafter(bar, lowest);
}

/// All tokens with a logit of at least `line` but −∞, by token.
template <class Number>
RecycledVector<Candidate> at_least(std::span<const Number> logits, double line) {
  const Number bar = bar_below<Number>(line);
  RecycledVector<Candidate> found;
  for (std::size_t i = next_above(logits, 0, bar); i < logits.size(); i = next_above(logits, i + 1, bar)) {
    found.push_back({logits[i], static_cast<Token>(i)});
  }
  return found;
}

/// exp((logit − max) / temperature) of every token, and their sum.
struct Weights {
  RecycledVector<double> of;
  double total = 0.0;
};

template <class Number>
Weights weights_of(std::span<const Number> logits, double max, double temperature, std::size_t room) {
  constexpr std::size_t block = 1024;                       // stays in the nearest cache until it is copied
  const double scale = std::min(1.0 / temperature, 1e300);  // the smallest invert to ∞
  std::array<double, block> some;
  Weights weights;
  weights.of.reserve(room);
  for (std::size_t begin = 0; begin < logits.size(); begin += block) {
    const auto row = logits.subspan(begin, std::min(block, logits.size() - begin));
    weights.total += exp_differences(row, max, scale, std::span(some).first(row.size()));
    weights.of.insert(weights.of.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(row.size()));
  }
  return weights;
}

/// The distribution without a filter: of every token.
template <class Number>
Result<Distribution> dense_distribution(std::span<const Number> logits, double temperature,
                                        std::size_t vocabulary) {
  SPECTR_TRY(const double max, largest_of(logits));
  Weights weights = weights_of(logits, max, temperature, vocabulary);
  weights.of.resize(vocabulary, 0.0);
  return Distribution::from_weights(std::move(weights.of), weights.total);
}

/// The first of `ordered` candidates that have a mass of at least `mass` together with what is `before` them;
/// all where they have not. weight(candidate) is one's mass.
template <class Weight>
std::size_t prefix_of_mass(std::span<const Candidate> ordered, double before, double mass, Weight&& weight) {
  for (std::size_t n = 0; n < ordered.size(); ++n) {
    before += weight(ordered[n]);
    if (before >= mass) return n + 1;
  }
  return ordered.size();
}

/// The likeliest tokens that have a mass of at least top_p together, by token. Ties go to the lower id.
/// Tokens go into bins by their logit, and only the bin that the last of them falls into is sorted.
template <class Number>
RecycledVector<Candidate> nucleus(std::span<const Number> logits, double max, double top_p) {
  constexpr std::size_t bins = 2048;
  constexpr double bins_per_nat = 64.0;
  const auto bin = [max](double logit) {
    return static_cast<std::size_t>(std::min(bins_per_nat * (max - logit), static_cast<double>(bins - 1)));
  };
  const Weights weights = weights_of(logits, max, 1.0, logits.size());
  std::array<double, bins> mass{};
  for (std::size_t i = 0; i < logits.size(); ++i) mass[bin(logits[i])] += weights.of[i];
  const double wanted = top_p * weights.total;
  double reached = 0.0;  // by the bins before `last`
  std::size_t last = 0;
  while (last + 1 < bins && reached + mass[last] < wanted) reached += mass[last++];

  RecycledVector<Candidate> kept, rest;
  const double line = max - static_cast<double>(last + 2) / bins_per_nat;  // bin `last` lies above it
  for (const Candidate& c : at_least(logits, last + 1 < bins ? line : -infinity)) {
    if (const std::size_t at = bin(c.logit); at <= last) (at < last ? kept : rest).push_back(c);
  }
  std::ranges::sort(rest, before);
  const auto weight = [&](const Candidate& c) { return weights.of[static_cast<std::size_t>(c.token)]; };
  rest.resize(prefix_of_mass(rest, reached, wanted, weight));
  const auto middle = static_cast<std::ptrdiff_t>(kept.size());
  std::ranges::sort(rest, {}, &Candidate::token);
  kept.insert(kept.end(), rest.begin(), rest.end());
  std::ranges::inplace_merge(kept, kept.begin() + middle, {}, &Candidate::token);
  return kept;
}

/// The same of candidates in order, in their order.
void cut_to_nucleus(RecycledVector<Candidate>& ordered, double top_p) {
  const double max = ordered.front().logit;
  const auto weight = [max](const Candidate& c) { return std::exp(c.logit - max); };
  double total = 0.0;
  for (const Candidate& c : ordered) total += weight(c);
  ordered.resize(prefix_of_mass(ordered, 0.0, top_p * total, weight));
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
    if (o.top_p < 1.0) cut_to_nucleus(candidates, o.top_p);
    std::ranges::sort(candidates, {}, &Candidate::token);
  } else {
    SPECTR_TRY(max, std::visit([](auto logits) { return largest_of(logits); }, row.values()));
    candidates = std::visit(
        [&](auto logits) {
          return o.top_p < 1.0 ? nucleus(logits, max, o.top_p) : at_least(logits, line_below(max));
        },
        row.values());
  }
  std::erase_if(candidates, [line = line_below(max)](const Candidate& c) { return c.logit < line; });

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
