#include "spectr/sampling/warp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/base/vector_math.h"
#include "spectr/sampling/penalties.h"
#include "spectr/sampling/sampler_chain.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the largest logit. Fails if a logit is NaN or +∞, or if all are −∞.
template <class Number>
Result<double> largest_of(std::span<const Number> logits) {
  const double max = largest(logits);
  if (std::isnan(max) || max == -infinity) SPECTR_TRY_VOID(check_candidates(Logits(logits).top(1)));
  return max;
}

/// Returns the largest value of the logits' type below `line`: logits of at least `line` are above it.
template <class Number>
Number bar_below(double line) {
  constexpr Number lowest = -std::numeric_limits<Number>::infinity();
  const auto bar = static_cast<Number>(line);
  return static_cast<double>(bar) < line ? bar : std::nextafter(bar, lowest);
}

/// Returns the tokens with a finite logit of at least `line`, ordered by token.
template <class Number>
RecycledVector<Candidate> at_least(std::span<const Number> logits, double line) {
  const Number bar = bar_below<Number>(line);
  RecycledVector<Candidate> found;
  for (std::size_t i = next_above(logits, 0, bar); i < logits.size(); i = next_above(logits, i + 1, bar)) {
    found.push_back({logits[i], static_cast<Token>(i)});
  }
  return found;
}

/// Weights exp((logit − max) / temperature) of all tokens, and their sum.
struct Weights {
  RecycledVector<double> of;
  double total = 0.0;
};

template <class Number>
Weights weights_of(std::span<const Number> logits, double max, double temperature, std::size_t room) {
  constexpr std::size_t block = 1024;                       // fits into the L1 cache until it is copied
  const double scale = std::min(1.0 / temperature, 1e300);  // 1 / temperature can be ∞
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

/// Returns the distribution over all tokens, without a filter.
template <class Number>
Result<Distribution> dense_distribution(std::span<const Number> logits, double temperature,
                                        std::size_t vocabulary) {
  SPECTR_TRY(const double max, largest_of(logits));
  Weights weights = weights_of(logits, max, temperature, vocabulary);
  weights.of.resize(vocabulary, 0.0);
  return Distribution::from_weights(std::move(weights.of), weights.total);
}

/// Returns the length of the shortest prefix of `ordered` whose mass, added to `before`, is at least `mass`,
/// or the full length if there is none. weight(candidate) is the mass of a candidate.
template <class Weight>
std::size_t prefix_of_mass(std::span<const Candidate> ordered, double before, double mass, Weight&& weight) {
  for (std::size_t n = 0; n < ordered.size(); ++n) {
    before += weight(ordered[n]);
    if (before >= mass) return n + 1;
  }
  return ordered.size();
}

/// Returns the likeliest tokens whose total mass is at least top_p, ordered by token; ties go to the lower
/// id. Tokens are binned by logit, and only the bin with the last of them is sorted.
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
  double reached = 0.0;  // mass of the bins before `last`
  std::size_t last = 0;
  while (last + 1 < bins && reached + mass[last] < wanted) reached += mass[last++];

  RecycledVector<Candidate> kept, rest;
  const double line = max - static_cast<double>(last + 2) / bins_per_nat;  // a bound below bin `last`
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

/// Truncates candidates, ordered by falling logit, to the nucleus.
void cut_to_nucleus(RecycledVector<Candidate>& ordered, double top_p) {
  const double max = ordered.front().logit;
  const auto weight = [max](const Candidate& c) { return std::exp(c.logit - max); };
  double total = 0.0;
  for (const Candidate& c : ordered) total += weight(c);
  ordered.resize(prefix_of_mass(ordered, 0.0, top_p * total, weight));
}

}  // namespace

Result<Warp> Warp::make(WarpOptions options, std::shared_ptr<const LogitRule> rule) {
  SPECTR_TRY(WarpOptions checked, checked_options(std::move(options)));
  return Warp(std::move(checked), std::move(rule));
}

Warp::Warp(WarpOptions options, std::shared_ptr<const LogitRule> rule)
    : options_(std::move(options)),
      rule_(std::move(rule)),
      samplers_(active_samplers(options_)),
      feedback_(Feedback::of(options_)) {
  restart_feedback();
  const auto is_penalty = [](Sampler one) { return one == Sampler::penalties || one == Sampler::dry; };
  const auto rest = std::ranges::find_if_not(samplers_, is_penalty);
  penalties_ = static_cast<std::size_t>(rest - samplers_.begin());
  if (options_.dynatemp_range > 0.0) is_fixed_ = false;
  // With the temperature 0, samplers that never exclude the likeliest token have no effect.
  const bool is_point = is_fixed_ && options_.temperature == 0.0;
  constexpr Sampler fixed[] = {Sampler::top_k, Sampler::top_p, Sampler::min_p, Sampler::temperature};
  for (auto one = rest; one != samplers_.end(); ++one) {
    if (is_point && *one == Sampler::top_n_sigma) continue;
    const bool goes_back = one != rest && *one < *std::prev(one);
    const bool is_known = std::ranges::find(fixed, *one) != std::end(fixed);
    if (!is_known || (goes_back && !is_point)) is_fixed_ = false;
  }
}

void Warp::penalise(std::span<double> logits, std::span<const Token> history) const {
  const auto find = [logits](Token token) {
    return static_cast<std::size_t>(token) < logits.size() ? &logits[static_cast<std::size_t>(token)]
                                                           : nullptr;
  };
  for (const auto& [token, bias] : options_.logit_bias)
    if (double* logit = find(token)) *logit += bias;
  for (const Sampler one : std::span(samplers_).first(penalties_))
    apply_penalties(one, options_, history, find);
}

RecycledVector<double> Warp::penalised(const Logits& row, std::span<const Token> history) const {
  RecycledVector<double> logits(row.size());
  std::visit([&](auto numbers) { std::ranges::copy(numbers, logits.begin()); }, row.values());
  penalise(logits, history);
  return logits;
}

Result<Distribution> Warp::distribution(const Logits& row, std::span<const Token> history,
                                        std::size_t vocabulary) const {
  SPECTR_CHECK(vocabulary >= row.size());
  const bool changes_logits = rule_ || penalties_ > 0 || !options_.logit_bias.empty();
  if (!changes_logits) return distribution_of(row, history, vocabulary);
  RecycledVector<double> logits = penalised(row, history);
  if (rule_) SPECTR_TRY_VOID(rule_->apply(history, logits));
  return distribution_of(Logits(std::span<const double>(logits)), history, vocabulary);
}

Result<Distribution> Warp::draft_distribution(const Logits& row, std::span<const Token> history,
                                              std::size_t vocabulary) const {
  SPECTR_CHECK(vocabulary >= row.size());
  if (!rule_) return distribution(row, history, vocabulary);
  RecycledVector<double> logits = penalised(row, history);
  SPECTR_TRY_VOID(rule_->apply(history, logits));
  const auto is_forbidden = [](double logit) { return logit == -infinity; };
  if (std::ranges::all_of(logits, is_forbidden)) logits = penalised(row, history);
  return distribution_of(Logits(std::span<const double>(logits)), history, vocabulary);
}

Result<Distribution> Warp::distribution_of(const Logits& row, std::span<const Token> history,
                                           std::size_t vocabulary) const {
  if (row.size() == 0) return error("there are no logits");
  if (is_fixed_) return fixed_distribution(row, vocabulary);
  return sampler_chain(row, std::span(samplers_).subspan(penalties_), options_, history, vocabulary);
}

Result<Distribution> Warp::fixed_distribution(const Logits& row, std::size_t vocabulary) const {
  const WarpOptions& o = options_;
  if (o.temperature == 0.0) {
    const RecycledVector<Candidate> best = row.top(1);
    SPECTR_TRY_VOID(check_candidates(best));
    return Distribution::point(best.front().token, vocabulary);
  }
  if (!cuts_to_k(row.size()) && o.top_p >= 1.0 && o.min_p <= 0.0) {
    return std::visit([&](auto logits) { return dense_distribution(logits, o.temperature, vocabulary); },
                      row.values());
  }

  // Candidates below the min-p line never survive. Top-p sums over all candidates that top-k leaves, so with
  // top-p the line is applied afterwards.
  const auto line_below = [&o](double max) { return o.min_p > 0.0 ? max + std::log(o.min_p) : -infinity; };
  RecycledVector<Candidate> candidates;
  double max = 0.0;
  if (cuts_to_k(row.size())) {
    candidates = row.top(o.top_k);
    SPECTR_TRY_VOID(check_candidates(candidates));
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
