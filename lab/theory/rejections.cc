#include "lab/theory/rejections.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "spectr/base/check.h"

namespace spectr::lab {
namespace {

/// Returns one step of a distribution of states under q: next(y) = Σ_x distribution(x) q(y|x).
std::vector<double> step(const MarkovPair& pair, std::size_t n, const std::vector<double>& distribution) {
  std::vector<double> next(distribution.size(), 0.0);
  for (std::size_t x = 0; x < distribution.size(); ++x) {
    const auto q = pair.q(n, x);
    for (std::size_t y = 0; y < distribution.size(); ++y) next[y] += distribution[x] * q[y];
  }
  return next;
}

/// Returns Π_{m≤M} r_m q^{M+1}: the distribution of the output after the rejection of M drafts from p, times
/// the probability of that rejection; zero if some r_m = 0.
std::vector<double> after_rejections(std::span<const double> p, std::span<const double> q, std::size_t M) {
  std::vector<double> left(q.begin(), q.end());  // q^m
  double product = 1.0;
  for (std::size_t m = 0; m < M; ++m) {
    double r = 0.0;
    for (std::size_t y = 0; y < left.size(); ++y) r += left[y] = std::max(0.0, left[y] - p[y]);
    product *= r;
    if (product == 0.0) return std::vector(left.size(), 0.0);
    for (double& mass : left) mass /= r;
  }
  for (double& mass : left) mass *= product;
  return left;
}

/// Returns F₁ … F_T of the forward pass, or of its limit if there is no number of sequences.
std::vector<std::vector<double>> forward(const MarkovPair& pair, std::optional<std::size_t> sequences) {
  const std::size_t V = pair.states();
  std::vector<std::vector<double>> masses;
  std::vector<double> mu(V, 1.0 / static_cast<double>(V)), F = mu;
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    std::vector<double> next(V, 0.0);
    for (std::size_t x = 0; x < V; ++x) {
      const auto p = pair.p(n, x), q = pair.q(n, x);
      for (std::size_t y = 0; y < V; ++y) next[y] += (mu[x] - F[x]) * std::max(0.0, q[y] - p[y]);
      if (!sequences) continue;
      const std::vector<double> rejected = after_rejections(p, q, *sequences);
      for (std::size_t y = 0; y < V; ++y) next[y] += F[x] * rejected[y];
    }
    mu = step(pair, n, mu);
    masses.push_back(F = std::move(next));
  }
  return masses;
}

std::vector<double> totals(const std::vector<std::vector<double>>& masses) {
  std::vector<double> all;
  for (const std::vector<double>& mass : masses) all.push_back(total(mass));
  return all;
}

}  // namespace

std::vector<double> expected_rejections(const MarkovPair& pair) {
  const std::size_t V = pair.states();
  std::vector<double> rejections, mu(V, 1.0 / static_cast<double>(V));
  for (std::size_t n = 0; n < pair.horizon(); ++n) {
    double rejection = 0.0;
    for (std::size_t x = 0; x < V; ++x) {
      const auto p = pair.p(n, x), q = pair.q(n, x);
      for (std::size_t y = 0; y < V; ++y) rejection += mu[x] * std::max(0.0, q[y] - p[y]);
    }
    rejections.push_back(rejection);
    mu = step(pair, n, mu);
  }
  return rejections;
}

std::vector<double> expected_batch_rejections(const MarkovPair& pair, std::size_t sequences) {
  return totals(batch_rejection_masses(pair, sequences));
}

std::vector<std::vector<double>> batch_rejection_masses(const MarkovPair& pair, std::size_t sequences) {
  SPECTR_CHECK(sequences >= 1);
  return forward(pair, sequences);
}

std::vector<double> expected_batch_rejections_in_the_limit(const MarkovPair& pair) {
  return totals(forward(pair, std::nullopt));
}

double expected_calls(const std::vector<double>& rejections) {
  SPECTR_CHECK(!rejections.empty());
  return 1.0 + total(rejections) - rejections.back();
}

double total(const std::vector<double>& rejections) {
  return std::accumulate(rejections.begin(), rejections.end(), 0.0);
}

double uniform_batch_improvement(double r, std::size_t sequences) {
  SPECTR_CHECK(r >= 1.0 && sequences >= 1);
  const double miss = 1.0 - 1.0 / r;
  return miss - std::pow(miss, static_cast<double>(sequences));
}

double bernoulli_batch_improvement(double u, double v, std::size_t sequences) {
  SPECTR_CHECK(sequences >= 1);
  const double miss = u > v ? u : 1.0 - u;
  return std::abs(u - v) * (1.0 - std::pow(miss, static_cast<double>(sequences - 1)));
}

}  // namespace spectr::lab
