#include "spectr/base/enumerator.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

std::size_t next_positive(std::span<const double> weights, std::size_t from) {
  while (from < weights.size() && !(weights[from] > 0.0)) ++from;
  return from;
}

}  // namespace

std::size_t Enumerator::draw(std::span<const double> weights) {
  if (depth_ == branches_.size()) {
    double total = 0.0;
    for (double w : weights) total += w;
    SPECTR_CHECK(total > 0.0 && std::isfinite(total));
    branches_.push_back({next_positive(weights, 0), {weights.begin(), weights.end()}, total});
  }
  const Branch& branch = branches_[depth_++];
  SPECTR_CHECK(branch.weights.size() == weights.size());
  SPECTR_CHECK(branch.weights[branch.index] == weights[branch.index]);
  return branch.index;
}

RecycledVector<std::size_t> Enumerator::draw_set(std::span<const double> weights, std::size_t k) {
  if (weights.size() > 64) return Choices::draw_set(weights, k);
  // P(S) = Σ_{i∈S} P(S∖i) · w_i / (total − w(S∖i)), in order of increasing set size.
  using Set = std::uint64_t;
  std::map<Set, double> sets = {{0, 1.0}};
  for (std::size_t size = 0; size < k; ++size) {
    std::map<Set, double> larger;
    for (const auto& [set, p] : sets) {
      double left = 0.0;
      for (std::size_t i = 0; i < weights.size(); ++i) left += (set >> i & 1) != 0 ? 0.0 : weights[i];
      for (std::size_t i = 0; i < weights.size(); ++i) {
        if ((set >> i & 1) == 0 && weights[i] > 0.0) larger[set | Set{1} << i] += p * (weights[i] / left);
      }
    }
    if (larger.empty()) break;  // fewer than k positive weights
    sets = std::move(larger);
  }
  std::vector<double> shares;
  for (const auto& [set, p] : sets) shares.push_back(p);
  const Set chosen = std::next(sets.begin(), static_cast<std::ptrdiff_t>(draw(shares)))->first;
  RecycledVector<std::size_t> drawn;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if ((chosen >> i & 1) != 0) drawn.push_back(i);
  }
  return drawn;
}

double Enumerator::probability() const {
  double product = 1.0;
  for (std::size_t d = 0; d < depth_; ++d) {
    const Branch& branch = branches_[d];
    product *= branch.weights[branch.index] / branch.total;
  }
  return product;
}

bool Enumerator::next() {
  branches_.resize(depth_);
  depth_ = 0;
  while (!branches_.empty()) {
    Branch& branch = branches_.back();
    branch.index = next_positive(branch.weights, branch.index + 1);
    if (branch.index < branch.weights.size()) return true;
    branches_.pop_back();
  }
  return false;
}

}  // namespace spectr
