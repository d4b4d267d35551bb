#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "spectr/backend/reference/reference_weights.h"

namespace spectr {

/// Returns the chosen experts and their weights, given the router's outputs, as ExpertsSpec defines them.
template <class Number>
std::vector<std::pair<std::size_t, Number>> choose_by_definition(const ExpertsSpec& spec,
                                                                 const ReferenceWeights<Number>& numbers,
                                                                 std::vector<Number> z) {
  using Gating = ExpertsSpec::Gating;
  const auto softmax = [](std::vector<Number>& x) {
    const Number max = std::ranges::max(x);
    Number sum = 0;
    for (Number& number : x) sum += number = std::exp(number - max);
    for (Number& number : x) number /= sum;
  };
  for (Number& number : z) number *= Number(spec.router_scale);
  if (spec.gating == Gating::softmax) softmax(z);
  if (spec.gating == Gating::sigmoid) std::ranges::transform(z, z.begin(), sigmoid_of<Number>);

  std::vector<Number> scores = z;
  for (std::size_t e = 0; e < z.size(); ++e) {
    if (spec.selection_bias) scores[e] += Number(numbers[*spec.selection_bias][e]);
  }
  const std::size_t size = z.size() / spec.groups;
  if (spec.groups > 1) {
    std::vector<Number> sums;
    for (std::size_t g = 0; g < spec.groups; ++g) {
      std::vector<Number> group(scores.begin() + static_cast<std::ptrdiff_t>(g * size),
                                scores.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
      std::ranges::sort(group, std::greater());
      sums.push_back(size > 1 ? group[0] + group[1] : group[0]);
    }
    std::vector<std::size_t> order(spec.groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t g) { return sums[g]; });
    for (std::size_t i = spec.groups_used; i < spec.groups; ++i) {
      for (std::size_t e = order[i] * size; e < (order[i] + 1) * size; ++e)
        scores[e] = -std::numeric_limits<Number>::infinity();
    }
  }

  std::vector<std::size_t> order(z.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t e) { return scores[e]; });
  order.resize(spec.used);
  std::vector<Number> weights;
  for (const std::size_t e : order) weights.push_back(z[e]);
  if (spec.gating == Gating::softmax_of_chosen) softmax(weights);
  const Number sum = spec.normalized ? std::accumulate(weights.begin(), weights.end(), Number(0)) : Number(1);
  std::vector<std::pair<std::size_t, Number>> chosen;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Number scale = spec.scales ? Number(numbers[*spec.scales][order[i]]) : Number(1);
    chosen.emplace_back(order[i], weights[i] / sum * Number(spec.weights_scale) * scale);
  }
  return chosen;
}

}  // namespace spectr
