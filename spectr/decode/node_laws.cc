#include "spectr/decode/node_laws.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "spectr/base/recycled.h"

namespace spectr {

Result<const Distribution*> NodeLaws::at(NodeId node) {
  const std::size_t index = static_cast<std::size_t>(node);
  if (laws_.size() <= index) laws_.resize(static_cast<std::size_t>(tree_.size()));
  if (!laws_[index]) {
    const Logits row = session_.logits(node);
    const Logits shared = row.first(std::min(row.size(), shared_));
    RecycledVector<Token> history;
    if (warp_.reads_history()) {
      const auto read = text_.last(std::min(text_.size(), warp_.options().repeat_last_n));
      history.assign(read.begin(), read.end());
      for (NodeId step : tree_.path(node)) history.push_back(tree_.token(step));
    }
    Result<Distribution> law = warp_.law(shared, history, vocabulary_);
    if (!law) return error("{}: {}", session_.name(), law.error().message);
    laws_[index] = std::make_unique<Distribution>(*std::move(law));
  }
  return laws_[index].get();
}

}  // namespace spectr
