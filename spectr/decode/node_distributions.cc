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

Result<Distribution> NodeDistributions::warped(NodeId node) const {
  RecycledVector<Token> history;
  if (warp_.reads_history()) {
    const auto read = sequence_.last(std::min(sequence_.size(), warp_.reads_last()));
    history.assign(read.begin(), read.end());
    for (NodeId step : tree_.path(node)) history.push_back(tree_.token(step));
  }
  Result<Distribution> made = role_ == Role::draft ? warp_.draft_distribution(row(node), history, vocabulary_)
                                                   : warp_.distribution(row(node), history, vocabulary_);
  if (made) return made;
  SPECTR_TRY_VOID(row(node).state());
  return error(made.error().code, "{}: {}", session_.name(), made.error().message);
}

Result<const Distribution*> NodeDistributions::at(NodeId node) {
  const std::size_t index = static_cast<std::size_t>(node);
  if (distributions_.size() <= index) distributions_.resize(static_cast<std::size_t>(tree_.size()));
  if (!distributions_[index]) {
    SPECTR_TRY(Distribution made, warped(node));
    if (const auto& feedback = warp_.feedback()) {
      FeedbackState state = warp_.feedback_state();
      if (node != TokenTree::root) {
        SPECTR_TRY(state, feedback_after(tree_.parent(node), tree_.token(node)));
      }
      Base base{state, std::make_unique<Distribution>(std::move(made))};
      made = feedback->apply(*base.distribution, state);
      if (bases_.size() <= index) bases_.resize(static_cast<std::size_t>(tree_.size()));
      bases_[index] = std::move(base);
    }
    distributions_[index] = std::make_unique<Distribution>(std::move(made));
  }
  return distributions_[index].get();
}

Result<FeedbackState> NodeDistributions::feedback_after(NodeId node, Token token) {
  SPECTR_CHECK(warp_.feedback().has_value());
  SPECTR_TRY(const Distribution* sampled, at(node));
  const std::size_t index = static_cast<std::size_t>(node);
  if (index >= bases_.size() || !bases_[index].distribution) return warp_.feedback_state();
  const Base& base = bases_[index];
  return warp_.feedback()->after(base.state, *base.distribution, *sampled, token);
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
