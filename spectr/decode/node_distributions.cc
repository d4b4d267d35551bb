#include "spectr/decode/node_distributions.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace spectr {

Result<const Distribution*> NodeDistributions::at(NodeId node) {
  const std::size_t index = static_cast<std::size_t>(node);
  if (distributions_.size() <= index) distributions_.resize(static_cast<std::size_t>(tree_.size()));
  if (!distributions_[index]) {
    const Logits row = session_.logits(node);
    const Logits shared = row.first(std::min(row.size(), shared_));
    RecycledVector<Token> history;
    if (warp_.reads_history()) {
      const auto read = sequence_.last(std::min(sequence_.size(), warp_.options().repeat_last_n));
      history.assign(read.begin(), read.end());
      for (NodeId step : tree_.path(node)) history.push_back(tree_.token(step));
    }
    Result<Distribution> made = warp_.distribution(shared, history, vocabulary_);
    if (!made) return error("{}: {}", session_.name(), made.error().message);
    distributions_[index] = std::make_unique<Distribution>(*std::move(made));
  }
  return distributions_[index].get();
}

}  // namespace spectr
