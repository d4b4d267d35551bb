#include "spectr/sampling/likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/kernels/vector_ops.h"
#include "spectr/sampling/ranking.h"

namespace spectr {
namespace {

/// log Σ exp(logit).
double log_sum(std::span<const double> logits) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (double logit : logits) sum += std::exp(logit - largest);
  return largest + std::log(sum);
}
double log_sum(std::span<const float> logits) {
  return log_sum_exp(logits);
}
double log_sum(const Logits& row) {
  return row.visit([](auto logits) { return log_sum(logits); });
}

}  // namespace

double negative_log_likelihood(const Logits& row, Token token) {
  SPECTR_CHECK(token >= 0 && static_cast<std::size_t>(token) < row.size());
  return log_sum(row) - row[static_cast<std::size_t>(token)];
}

RecycledVector<Likelihood> likeliest(const Logits& row, std::size_t n) {
  SPECTR_CHECK(row.size() > 0);
  n = std::min(n, row.size());
  if (n == 0) return {};
  constexpr double impossible = -std::numeric_limits<double>::infinity();
  const double normaliser = log_sum(row);
  RecycledVector<Likelihood> best;
  best.reserve(n);
  Ranking possible(row.visit([n](auto logits) { return likeliest_and_more(logits, n); }));
  for (const Candidate& c : possible.first(n)) best.push_back({c.token, c.logit - normaliser});
  for (std::size_t i = 0; i < row.size() && best.size() < n; ++i) {
    if (row[i] == impossible) best.push_back({static_cast<Token>(i), impossible});
  }
  return best;
}

}  // namespace spectr
