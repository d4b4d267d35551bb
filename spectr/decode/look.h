#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "spectr/base/check.h"
#include "spectr/base/result.h"
#include "spectr/decode/node_distributions.h"
#include "spectr/lm/language_model.h"
#include "spectr/lm/token_tree.h"

namespace spectr {

/// A look: the end of a sequence, scored as if it had been drafted, so that a model's distributions there are
/// known. At the end of a prompt it costs little, because the prompt is processed anyway.
class Look {
 public:
  /// Covers the positions of the last `positions` tokens, or of all but the first token if there are fewer.
  /// Requires: at least two tokens.
  Look(std::span<const Token> sequence, std::size_t positions)
      : sequence_(sequence), before_(before(sequence, positions)), tree_(before_.back()) {
    for (std::size_t i = before_.size(); i + 1 < sequence.size(); ++i)
      tree_.child(tree_.size() - 1, sequence[i]);
  }

  /// Returns the number of positions, which are nodes 0 to positions() − 1.
  NodeId positions() const { return tree_.size(); }
  /// Returns the sequence's token at a position.
  Token token(NodeId position) const {
    return sequence_[before_.size() + static_cast<std::size_t>(position)];
  }

  /// Processes the sequence except for its last token, which belongs to the next block. If a session already
  /// has its end, that is computed again, so that the results are a function of the sequence.
  Result<void> score(Session& session) const {
    session.rewind(before_.size());
    return session.score(before_, tree_);
  }
  /// Returns the distributions at its positions. Requires: the session scored it last.
  NodeDistributions distributions(const Session& session, const Warp& warp, std::size_t vocabulary,
                                  NodeDistributions::Role role) const {
    return {session, warp, before_, tree_, vocabulary, session.vocabulary(), role};
  }
  /// Commits the scored tokens to the session's sequence.
  void keep(Session& session) const { session.keep(tree_.path(tree_.size() - 1)); }

 private:
  static std::span<const Token> before(std::span<const Token> sequence, std::size_t positions) {
    SPECTR_CHECK(sequence.size() >= 2);
    return sequence.first(sequence.size() - std::min(sequence.size() - 1, positions));
  }

  std::span<const Token> sequence_;
  std::span<const Token> before_;  // up to the first position
  TokenTree tree_;                 // a chain: the tokens after it
};

}  // namespace spectr
