#include "spectr/sampling/likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "spectr/base/check.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Logits::top() without the entries that are NaN.
RecycledVector<Candidate> top_numbers(const Logits& row, std::size_t n) {
  RecycledVector<Candidate> best = row.top(n);
  if (best.empty() || best.front().logit < infinity) return best;
  best.clear();
  std::visit(
      [&best](auto logits) {
        for (std::size_t i = 0; i < logits.size(); ++i) {
          const double logit = logits[i];
          if (logit > -infinity) best.push_back({logit, static_cast<Token>(i)});
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
    if (row.at(token) == -infinity) best.push_back({token, -infinity});
  }
  return best;
}

}  // namespace spectr
