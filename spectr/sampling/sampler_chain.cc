#include "spectr/sampling/sampler_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "spectr/base/recycled.h"
#include "spectr/sampling/penalties.h"

namespace spectr {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// The remaining candidates of a row. `list` has logits above −∞ and is ordered by token. `masked` counts
/// excluded tokens that are still candidates in llama.cpp, whose dynamic temperature counts them.
struct Candidates {
  RecycledVector<Candidate> list;
  std::size_t masked = 0;

  std::size_t count() const { return list.size() + masked; }
};

double max_logit(const Candidates& candidates) {
  return std::ranges::max(candidates.list, {}, &Candidate::logit).logit;
}

/// Weights exp(logit − max) of the candidates, and their sum.
struct CandidateWeights {
  RecycledVector<double> of;
  double total = 0.0;
};

CandidateWeights candidate_weights(const Candidates& candidates) {
  CandidateWeights weights;
  weights.of.reserve(candidates.list.size());
  const double max = max_logit(candidates);
  for (const Candidate& c : candidates.list)
    weights.total += weights.of.emplace_back(std::exp(c.logit - max));
  return weights;
}

double entropy_of(const CandidateWeights& weights) {
  double entropy = 0.0;
  for (const double weight : weights.of)
    if (const double p = weight / weights.total; p > 0.0) entropy -= p * std::log(p);
  return entropy;
}

/// A candidate with its rank in some order, and its mass.
struct Ranked {
  double rank;  ///< lower ranks first, ties by the lower token
  double mass;
  Candidate candidate;
};

/// Keeps candidates in ascending order of rank until `is_enough` holds for their total mass.
template <class IsEnough>
void keep_first(RecycledVector<Ranked>& ranked, const IsEnough& is_enough, Candidates& kept) {
  const auto after = [](const Ranked& a, const Ranked& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.candidate.token > b.candidate.token;
  };
  std::ranges::make_heap(ranked, after);
  kept.list.clear();
  double mass = 0.0;
  for (auto end = ranked.end(); end != ranked.begin();) {
    std::pop_heap(ranked.begin(), end, after);
    --end;
    kept.list.push_back(end->candidate);
    mass += end->mass;
    if (is_enough(mass)) break;
  }
  std::ranges::sort(kept.list, {}, &Candidate::token);
  kept.masked = 0;
}

class ChainRun {
 public:
  ChainRun(std::span<const Sampler> samplers, const WarpOptions& options, std::span<const Token> history)
      : samplers_(samplers), options_(options), history_(history) {}

  Result<Distribution> run(const Logits& row, std::size_t vocabulary) {
    Candidates candidates;
    const bool starts_with_k = !samplers_.empty() && samplers_.front() == Sampler::top_k;
    if (starts_with_k && options_.top_k < row.size()) {
      candidates.list = row.top(options_.top_k);
      SPECTR_TRY_VOID(check_candidates(candidates.list));
      std::ranges::sort(candidates.list, {}, &Candidate::token);
      candidates.masked = options_.top_k - candidates.list.size();
      samplers_ = samplers_.subspan(1);
    } else {
      SPECTR_TRY(candidates, all_of(row));
    }
    go(std::move(candidates), 0, 1.0);
    return mixture(row.size(), vocabulary);
  }

 private:
  static Result<Candidates> all_of(const Logits& row) {
    Candidates all;
    const auto values = row.values();
    std::visit(
        [&](auto logits) {
          all.list.reserve(logits.size());
          for (std::size_t i = 0; i < logits.size(); ++i) {
            const double logit = logits[i];
            if (logit != minus_infinity) all.list.push_back({logit, static_cast<Token>(i)});
          }
        },
        values);
    all.masked = row.size() - all.list.size();
    const auto is_number = [](const Candidate& c) { return std::isfinite(c.logit); };
    if (all.list.empty() || !std::ranges::all_of(all.list, is_number)) {
      const auto first = std::visit([](auto logits) { return Logits(logits).top(1); }, values);
      SPECTR_TRY_VOID(check_candidates(first));
    }
    return all;
  }

  /// Applies the samplers from index `next` on to candidates that have probability `mass` of being used.
  void go(Candidates candidates, std::size_t next, double mass) {
    for (; next < samplers_.size(); ++next) {
      if (samplers_[next] != Sampler::xtc) {
        apply(samplers_[next], candidates);
        continue;
      }
      Candidates cut = candidates;
      if (!exclude_top_choices(cut)) continue;
      go(std::move(cut), next + 1, mass * options_.xtc_probability);
      mass *= 1.0 - options_.xtc_probability;
      if (mass <= 0.0) return;
    }
    const CandidateWeights weights = candidate_weights(candidates);
    for (std::size_t i = 0; i < candidates.list.size(); ++i)
      mixture_.push_back({mass * weights.of[i] / weights.total, candidates.list[i].token});
  }

  /// Returns the mixture as a distribution. `count` is the number of tokens of the row.
  Distribution mixture(std::size_t count, std::size_t vocabulary) {
    if (!std::ranges::is_sorted(mixture_, {}, &Candidate::token))
      std::ranges::sort(mixture_, {}, &Candidate::token);
    RecycledVector<Token> tokens;
    RecycledVector<double> weights;
    tokens.reserve(mixture_.size());
    weights.reserve(mixture_.size());
    for (const auto& [mass, token] : mixture_) {
      if (!tokens.empty() && tokens.back() == token) {
        weights.back() += mass;
      } else {
        tokens.push_back(token);
        weights.push_back(mass);
      }
    }
    if (tokens.size() < count)
      return Distribution::from_weights(std::move(tokens), std::move(weights), vocabulary);
    weights.resize(vocabulary, 0.0);
    return Distribution::from_weights(std::move(weights));
  }

  void apply(Sampler sampler, Candidates& candidates) const {
    switch (sampler) {
      case Sampler::penalties:
      case Sampler::dry:
        return penalise(sampler, candidates);
      case Sampler::top_n_sigma:
        return keep_within_deviations(candidates);
      case Sampler::top_k:
        return keep_largest(candidates);
      case Sampler::typ_p:
        return keep_typical(candidates);
      case Sampler::top_p:
        return keep_mass(candidates);
      case Sampler::min_p:
        return keep_likely(candidates);
      case Sampler::temperature:
        return set_temperature(candidates);
      case Sampler::xtc:         // handled in go(), because it makes a mixture
      case Sampler::adaptive_p:  // never part of a chain
        return;
    }
  }

  void penalise(Sampler sampler, Candidates& candidates) const {
    apply_penalties(sampler, options_, history_, [&](Token token) -> double* {
      const auto at = std::ranges::lower_bound(candidates.list, token, {}, &Candidate::token);
      return at != candidates.list.end() && at->token == token ? &at->logit : nullptr;
    });
  }

  void keep_within_deviations(Candidates& candidates) const {
    if (candidates.count() <= 1) return;
    const auto n = static_cast<double>(candidates.list.size());
    double sum = 0.0, squares = 0.0;
    for (const Candidate& c : candidates.list) sum += c.logit;
    for (const Candidate& c : candidates.list) squares += (c.logit - sum / n) * (c.logit - sum / n);
    const double line = max_logit(candidates) - options_.top_n_sigma * std::sqrt(squares / n);
    candidates.masked += std::erase_if(candidates.list, [&](const Candidate& c) { return c.logit < line; });
  }

  void keep_largest(Candidates& candidates) const {
    auto& list = candidates.list;
    if (list.size() > options_.top_k) {
      const auto end = list.begin() + static_cast<std::ptrdiff_t>(options_.top_k);
      std::ranges::nth_element(list, end, before);
      list.erase(end, list.end());
      std::ranges::sort(list, {}, &Candidate::token);
    }
    candidates.masked = std::min(candidates.masked, options_.top_k - list.size());
  }

  /// Locally typical sampling (Meister et al., arXiv 2202.00666).
  void keep_typical(Candidates& candidates) const {
    const CandidateWeights weights = candidate_weights(candidates);
    const double entropy = entropy_of(weights);
    RecycledVector<Ranked> ranked;
    ranked.reserve(candidates.list.size());
    for (std::size_t i = 0; i < candidates.list.size(); ++i) {
      const double p = weights.of[i] / weights.total;
      ranked.push_back({std::abs(-std::log(p) - entropy), p, candidates.list[i]});
    }
    keep_first(ranked, [this](double mass) { return mass > options_.typical_p; }, candidates);
  }

  void keep_mass(Candidates& candidates) const {
    const CandidateWeights weights = candidate_weights(candidates);
    RecycledVector<Ranked> ranked;
    ranked.reserve(candidates.list.size());
    for (std::size_t i = 0; i < candidates.list.size(); ++i)
      ranked.push_back({-candidates.list[i].logit, weights.of[i], candidates.list[i]});
    const double enough = options_.top_p * weights.total;
    keep_first(ranked, [enough](double mass) { return mass >= enough; }, candidates);
  }

  void keep_likely(Candidates& candidates) const {
    const double line = max_logit(candidates) + std::log(options_.min_p);
    std::erase_if(candidates.list, [&](const Candidate& c) { return c.logit < line; });
    candidates.masked = 0;
  }

  /// Excludes all candidates of at least the threshold, except the least likely of them. Returns false if
  /// there are fewer than two.
  bool exclude_top_choices(Candidates& candidates) const {
    const CandidateWeights weights = candidate_weights(candidates);
    const double line = options_.xtc_threshold * weights.total;
    std::size_t choices = 0;
    Candidate last{};
    for (std::size_t i = 0; i < candidates.list.size(); ++i) {
      if (weights.of[i] < line) continue;
      if (choices++ == 0 || before(last, candidates.list[i])) last = candidates.list[i];
    }
    if (choices < 2) return false;
    std::erase_if(candidates.list, [&](const Candidate& c) { return before(c, last); });
    return true;
  }

  void set_temperature(Candidates& candidates) const {
    double temperature = options_.temperature;
    if (options_.dynatemp_range > 0.0) {
      if (candidates.count() <= 1) return;
      const double min = std::max(0.0, temperature - options_.dynatemp_range);
      const double max = temperature + options_.dynatemp_range;
      const double most = std::log(static_cast<double>(candidates.count()));
      const double entropy = entropy_of(candidate_weights(candidates)) / most;
      temperature = min + (max - min) * std::pow(entropy, options_.dynatemp_exponent);
    }
    if (temperature <= 0.0) {
      const Candidate best = *std::ranges::min_element(candidates.list, before);
      candidates.masked = candidates.count() - 1;
      candidates.list.assign(1, best);
      return;
    }
    constexpr double least = 1e-290;  // keeps logits finite
    for (Candidate& c : candidates.list) c.logit /= std::max(temperature, least);
  }

  std::span<const Sampler> samplers_;
  const WarpOptions& options_;
  std::span<const Token> history_;
  RecycledVector<Candidate> mixture_;  // the `logit` fields hold probabilities
};

}  // namespace

Result<Distribution> sampler_chain(const Logits& row, std::span<const Sampler> samplers,
                                   const WarpOptions& options, std::span<const Token> history,
                                   std::size_t vocabulary) {
  return ChainRun(samplers, options, history).run(row, vocabulary);
}

Result<void> check_candidates(std::span<const Candidate> candidates) {
  if (candidates.empty()) return error(ErrorCode::internal, "every logit is −∞: no token is possible");
  const auto [logit, token] = candidates.front();
  if (logit < std::numeric_limits<double>::infinity()) return {};
  // The sign of a NaN is arbitrary; print it without one.
  return error(ErrorCode::internal, "the logit of token {} is {}", token, std::isnan(logit) ? NAN : logit);
}

}  // namespace spectr
