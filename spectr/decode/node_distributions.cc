#include "spectr/decode/node_distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/sampling/likelihood.h"

namespace spectr {

Logits NodeDistributions::row(NodeId node) const {
  const Logits row = session_.logits(node);
  return row.first(std::min(row.size(), shared_));
}

Result<const Distribution*> NodeDistributions::at(NodeId node) {
  const std::size_t index = static_cast<std::size_t>(node);
  if (distributions_.size() <= index) distributions_.resize(static_cast<std::size_t>(tree_.size()));
  if (!distributions_[index]) {
    RecycledVector<Token> history;
    if (warp_.reads_history()) {
      const auto read = sequence_.last(std::min(sequence_.size(), warp_.options().repeat_last_n));
      history.assign(read.begin(), read.end());
      for (NodeId step : tree_.path(node)) history.push_back(tree_.token(step));
    }
    Result<Distribution> made = warp_.distribution(row(node), history, vocabulary_);
    if (!made) return error(made.error().code, "{}: {}", session_.name(), made.error().message);
    distributions_[index] = std::make_unique<Distribution>(*std::move(made));
  }
  return distributions_[index].get();
}

void NodeDistributions::set(NodeId node, Distribution distribution) {
  const std::size_t index = static_cast<std::size_t>(node);
  if (distributions_.size() <= index) distributions_.resize(static_cast<std::size_t>(tree_.size()));
  SPECTR_CHECK(!distributions_[index]);
  distributions_[index] = std::make_unique<Distribution>(std::move(distribution));
}

double NodeDistributions::confidence(NodeId node) {
  const std::size_t index = static_cast<std::size_t>(node);
  if (confidences_.size() <= index) confidences_.resize(static_cast<std::size_t>(tree_.size()), -1.0);
  double& confidence = confidences_[index];
  if (confidence < 0.0) {
    const Logits row = this->row(node);
    confidence = std::min(1.0, std::exp(row.top(1).front().logit - row.log_sum_exp()));
  }
  return confidence;
}

double NodeDistributions::log_likelihood(NodeId node, Token token) const {
  const Logits row = this->row(node);
  if (static_cast<std::size_t>(token) >= row.size()) return -std::numeric_limits<double>::infinity();
  return -negative_log_likelihood(row, token);
}

}  // namespace spectr
