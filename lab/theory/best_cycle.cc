#include "lab/theory/best_cycle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spectr/base/check.h"

namespace spectr::lab {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Slack of a step of the best cycle that is attributed to rounding.
constexpr double rounding = 1e-10;

using Walks = std::vector<std::vector<double>>;

/// Returns walks[k][v], the largest log q of k steps from the start to v; −∞ if there is no such walk.
Walks likeliest_walks(std::span<const double> log_q, std::size_t states, std::size_t start) {
  Walks walks(states + 1, std::vector(states, -infinity));
  walks[0][start] = 0.0;
  for (std::size_t k = 0; k < states; ++k) {
    for (std::size_t u = 0; u < states; ++u) {
      if (walks[k][u] == -infinity) continue;
      for (std::size_t v = 0; v < states; ++v)
        walks[k + 1][v] = std::max(walks[k + 1][v], walks[k][u] + log_q[u * states + v]);
    }
  }
  return walks;
}

/// Returns Karp's λ = max over v of min over k < V of (walks[V][v] − walks[k][v])/(V − k).
double largest_cycle_mean(const Walks& walks, std::size_t states) {
  double best = -infinity;
  for (std::size_t v = 0; v < states; ++v) {
    if (walks[states][v] == -infinity) continue;
    double least = infinity;
    for (std::size_t k = 0; k < states; ++k) {
      if (walks[k][v] == -infinity) continue;
      least = std::min(least, (walks[states][v] - walks[k][v]) / static_cast<double>(states - k));
    }
    best = std::max(best, least);
  }
  return best;
}

/// Returns h(v), the largest Σ (log q − λ) of a walk from the start to v. h(u) + log q − λ ≤ h(v) for every
/// step, with equality on the best cycle.
std::vector<double> potentials(const Walks& walks, std::size_t states, double mean) {
  std::vector<double> h(states, -infinity);
  for (std::size_t k = 0; k < states; ++k) {
    for (std::size_t v = 0; v < states; ++v)
      h[v] = std::max(h[v], walks[k][v] - mean * static_cast<double>(k));
  }
  return h;
}

/// Returns the state with the smallest potential on a cycle of steps without slack.
std::size_t turning_point_of(std::span<const double> log_q, std::size_t states, double mean,
                             const std::vector<double>& h) {
  const auto has_no_slack = [&](std::size_t u, std::size_t v) {
    return h[u] != -infinity && log_q[u * states + v] != -infinity &&
           h[u] + log_q[u * states + v] - mean >= h[v] - rounding;
  };
  // A state without a slack-free step to a remaining state lies on no such cycle and is removed.
  std::vector<bool> left(states, true);
  std::vector<std::size_t> next(states, states);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t u = 0; u < states; ++u) {
      if (!left[u]) continue;
      next[u] = states;
      for (std::size_t v = 0; v < states && next[u] == states; ++v) {
        if (left[v] && has_no_slack(u, v)) next[u] = v;
      }
      if (next[u] == states) changed = true, left[u] = false;
    }
  }
  std::size_t at = static_cast<std::size_t>(std::ranges::find(left, true) - left.begin());
  SPECTR_CHECK(at < states);
  for (std::size_t i = 0; i < states; ++i) at = next[at];  // now on the cycle
  std::size_t least = at;
  for (std::size_t v = next[at]; v != at; v = next[v]) least = h[v] < h[least] ? v : least;
  return least;
}

}  // namespace

double BestCycle::return_cost() const {
  double largest = 0.0;
  for (std::size_t x = 0; x < cost.size(); ++x) largest = reachable[x] ? std::max(largest, cost[x]) : largest;
  return largest;
}

BestCycle best_cycle(std::span<const double> q, std::size_t states, std::size_t start) {
  SPECTR_CHECK(q.size() == states * states && start < states);
  std::vector<double> log_q(q.size());
  std::ranges::transform(q, log_q.begin(), [](double p) { return std::log(p); });
  const Walks walks = likeliest_walks(log_q, states, start);
  BestCycle best{.mean = largest_cycle_mean(walks, states), .cost = {}, .turning_point = 0, .reachable = {}};
  const std::vector<double> h = potentials(walks, states, best.mean);
  for (const double potential : h) best.reachable.push_back(potential != -infinity);
  best.turning_point = turning_point_of(log_q, states, best.mean, h);
  best.cost.assign(states, infinity);
  best.cost[best.turning_point] = 0.0;
  for (std::size_t round = 0; round + 1 < states; ++round) {
    for (std::size_t x = 0; x < states; ++x) {
      for (std::size_t y = 0; y < states; ++y)
        best.cost[x] = std::min(best.cost[x], best.cost[y] - log_q[x * states + y]);
    }
  }
  return best;
}

}  // namespace spectr::lab
