#include "spectr/sampling/warp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "spectr/kernels/vector_ops.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Candidate {
  double logit;
  Token token;
};

// Larger logits first, ties by the lower id.
bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

/// The candidates in order, sorted only as far as somebody asks.
class Ranking {
 public:
  explicit Ranking(std::vector<Candidate> candidates) : all_(std::move(candidates)) {}

  std::size_t size() const { return all_.size(); }
  /// In no particular order.
  std::span<const Candidate> all() const { return all_; }

  /// Sorts at least the first n and gives them.
  std::span<const Candidate> first(std::size_t n) {
    n = std::min(n, all_.size());
    if (sorted_ < n) {
      // Quadruple what is sorted, so that asking one by one costs no more than asking at once.
      const std::size_t until = std::min(std::max(n, 4 * sorted_), all_.size());
      const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(sorted_);
      const auto end = all_.begin() + static_cast<std::ptrdiff_t>(until);
      if (end != all_.end()) std::nth_element(begin, end, all_.end(), before);
      std::sort(begin, end, before);
      sorted_ = until;
    }
    return std::span(all_).first(n);
  }

  void keep(std::size_t n) {
    first(n);
    all_.resize(std::min(n, all_.size()));
    sorted_ = std::min(sorted_, all_.size());
  }

  std::vector<Candidate> take() && { return std::move(all_); }

 private:
  std::vector<Candidate> all_;
  std::size_t sorted_ = 0;
};

/// The largest of all, in eight running maxima that do not wait for one another.
double largest_of(std::span<const double> logits) {
  std::array<double, 8> largest;
  largest.fill(-infinity);
  std::size_t i = 0;
  for (; i + 8 <= logits.size(); i += 8) {
    for (std::size_t j = 0; j < 8; ++j) largest[j] = std::max(largest[j], logits[i + j]);
  }
  for (; i < logits.size(); ++i) largest[0] = std::max(largest[0], logits[i]);
  return *std::ranges::max_element(largest);
}

/// How many of the likeliest candidates have a mass of at least top_p together.
std::size_t nucleus(Ranking& ranking, double largest, double top_p) {
  double total = 0.0;
  for (const Candidate& c : ranking.all()) total += std::exp(c.logit - largest);
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
    return error("temperature must be at least 0, got {}", o.temperature);
  }
  if (!(o.top_p >= 0.0 && o.top_p <= 1.0)) return error("top-p must lie in [0, 1], got {}", o.top_p);
  if (!(o.min_p >= 0.0 && o.min_p <= 1.0)) return error("min-p must lie in [0, 1], got {}", o.min_p);
  if (!(o.repeat_penalty > 0.0) || !std::isfinite(o.repeat_penalty)) {
    return error("repeat penalty must be positive, got {}", o.repeat_penalty);
  }
  if (!std::isfinite(o.presence_penalty)) {
    return error("presence penalty must be finite, got {}", o.presence_penalty);
  }
  if (!std::isfinite(o.frequency_penalty)) {
    return error("frequency penalty must be finite, got {}", o.frequency_penalty);
  }
  for (const auto& [token, bias] : o.logit_bias) {
    if (token < 0) return error("logit bias: {} is no token", token);
    if (std::isnan(bias) || bias == infinity) return error("logit bias of token {} is {}", token, bias);
  }
  return Warp(std::move(o));
}

void Warp::penalise(std::vector<double>& logits, std::span<const Token> history) const {
  const WarpOptions& o = options_;
  for (const auto& [token, bias] : o.logit_bias) {
    if (static_cast<std::size_t>(token) < logits.size()) logits[static_cast<std::size_t>(token)] += bias;
  }
  if (!reads_history()) return;
  std::map<Token, int> counts;
  for (Token t : history.last(std::min(o.repeat_last_n, history.size()))) ++counts[t];
  for (const auto& [token, count] : counts) {
    if (static_cast<std::size_t>(token) >= logits.size()) continue;
    double& logit = logits[static_cast<std::size_t>(token)];
    logit = logit <= 0.0 ? logit * o.repeat_penalty : logit / o.repeat_penalty;
    logit -= count * o.frequency_penalty + o.presence_penalty;
  }
}

Result<Distribution> Warp::law(const Logits& row, std::span<const Token> history,
                               std::size_t vocabulary) const {
  const WarpOptions& o = options_;
  std::vector<double> logits(row.size());
  row.visit([&](auto numbers) { std::ranges::copy(numbers, logits.begin()); });
  penalise(logits, history);

  const auto impossible = [](double logit) { return !(logit < infinity); };  // +∞ and NaN
  if (const auto at = std::ranges::find_if(logits, impossible); at != logits.end())
    return error("the logit of token {} is {}", at - logits.begin(), *at);
  const double largest = largest_of(logits);
  if (largest == -infinity) return error("every logit is −∞: no token is possible");

  if (o.temperature == 0.0) {
    const auto best = std::ranges::find(logits, largest) - logits.begin();
    return Distribution::point(static_cast<Token>(best), vocabulary);
  }

  const bool filtered = (o.top_k > 0 && o.top_k < logits.size()) || o.top_p < 1.0 || o.min_p > 0.0;
  if (!filtered) {
    exp_differences(logits, largest, std::min(1.0 / o.temperature, 1e300));  // the smallest ones invert to ∞
    logits.resize(vocabulary, 0.0);
    return Distribution::from_weights(std::move(logits));
  }

  // Candidates below the min-p line never survive; top-p sums over what top-k has left, so with top-p on the
  // line is drawn only afterwards.
  const double line = o.min_p > 0.0 ? largest + std::log(o.min_p) : -infinity;
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] == -infinity || (o.top_p >= 1.0 && logits[i] < line)) continue;
    candidates.push_back({logits[i], static_cast<Token>(i)});
  }
  Ranking ranking(std::move(candidates));
  if (o.top_k > 0) ranking.keep(o.top_k);
  if (o.top_p < 1.0) ranking.keep(nucleus(ranking, largest, o.top_p));
  std::vector<Candidate> kept = std::move(ranking).take();
  std::erase_if(kept, [&](const Candidate& c) { return c.logit < line; });
  std::ranges::sort(kept, {}, &Candidate::token);

  std::vector<Token> tokens;
  std::vector<double> weights;
  for (const Candidate& c : kept) {
    tokens.push_back(c.token);
    weights.push_back(std::exp((c.logit - largest) / o.temperature));
  }
  return Distribution::from_weights(std::move(tokens), std::move(weights), vocabulary);
}

}  // namespace spectr
