#include "spectr/base/enumerator.h"

#include <cmath>

#include "spectr/base/check.h"

namespace spectr {
namespace {

std::size_t next_positive(const std::vector<double>& weights, std::size_t from) {
  while (from < weights.size() && !(weights[from] > 0.0)) ++from;
  return from;
}

}  // namespace

std::size_t Enumerator::draw(std::span<const double> weights) {
  if (depth_ == branches_.size()) {
    double total = 0.0;
    for (double w : weights) total += w;
    SPECTR_CHECK(total > 0.0 && std::isfinite(total));
    std::vector<double> shares(weights.begin(), weights.end());
    for (double& w : shares) w /= total;
    const std::size_t first = next_positive(shares, 0);
    SPECTR_CHECK(first < shares.size());
    branches_.push_back({first, std::move(shares)});
  }
  SPECTR_CHECK(branches_[depth_].weights.size() ==
               weights.size());  // the code must be a function of its choices
  return branches_[depth_++].index;
}

double Enumerator::probability() const {
  double product = 1.0;
  for (std::size_t d = 0; d < depth_; ++d) product *= branches_[d].weights[branches_[d].index];
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
