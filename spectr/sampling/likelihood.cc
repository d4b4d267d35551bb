#include "spectr/sampling/likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "spectr/base/check.h"

namespace spectr {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Returns Logits::top() without NaN entries.
RecycledVector<Candidate> top_numbers(const Logits& row, std::size_t n) {
  RecycledVector<Candidate> best = row.top(n);
  if (best.empty() || best.front().logit < infinite) return best;
  best.clear();
  std::visit(
      [&best](auto logits) {
        for (std::size_t i = 0; i < logits.size(); ++i) {
          const double logit = logits[i];
          if (logit > -infinite) best.push_back({logit, static_cast<Token>(i)});
        }
      },
      row.values());
  std::ranges::sort(best, before);
  best.resize(std::min(n, best.size()));
  return best;
}

}  // namespace

double negative_log_likelihood(const Logits& row, Token token) {
  const double logit = row.at(token);
  return row.log_sum_exp() - logit;
}

RecycledVector<Likelihood> likeliest(const Logits& row, std::size_t n) {
  SPECTR_CHECK(row.size() > 0);
  n = std::min(n, row.size());
  if (n == 0) return {};
  const double normalizer = row.log_sum_exp();
  RecycledVector<Likelihood> best;
  best.reserve(n);
  for (const Candidate& c : top_numbers(row, n)) best.push_back({c.token, c.logit - normalizer});
  for (Token token = 0; static_cast<std::size_t>(token) < row.size() && best.size() < n; ++token) {
    if (row.at(token) == -infinite) best.push_back({token, -infinite});
  }
  return best;
}

RecycledVector<Likelihood> likeliest(const Distribution& distribution, std::size_t n) {
  RecycledVector<Likelihood> best;
  best.reserve(distribution.size());
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    const double probability = distribution.probabilities()[i];
    if (probability > 0.0) best.push_back({distribution.token(i), probability});
  }
  const auto end = best.begin() + static_cast<std::ptrdiff_t>(std::min(n, best.size()));
  std::ranges::partial_sort(best, end, [](const Likelihood& a, const Likelihood& b) {
    return a.log_probability > b.log_probability ||
           (a.log_probability == b.log_probability && a.token < b.token);
  });
  best.erase(end, best.end());
  for (Likelihood& one : best) one.log_probability = std::log(one.log_probability);
  return best;
}

}  // namespace spectr
