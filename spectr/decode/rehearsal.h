#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "spectr/base/check.h"
#include "spectr/decode/node_laws.h"
#include "spectr/model/language_model.h"
#include "spectr/model/token_tree.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The end of a prompt, scored as if it had been drafted: what models make of it is known before they draft
/// the first token. It is read anyway; only logits are computed for a few more of its tokens.
class Rehearsal {
 public:
  /// The last contexts of a prompt that are looked at. (More say little more; every one has its price.)
  static constexpr std::size_t most_contexts = 4;

  /// The prompt's last token is left to the first block. Requires: two tokens or more.
  explicit Rehearsal(std::span<const Token> prompt) : text_(text_before_last(prompt)), tree_(text_.back()) {
    for (Token token : prompt.subspan(text_.size(), prompt.size() - text_.size() - 1)) {
      tree_.child(last(), token);
    }
  }

  /// How many contexts: nodes 0 to contexts() − 1 are they.
  NodeId contexts() const { return tree_.size(); }

  /// Reads the prompt. Where a session already knows its end that is computed again, so that what comes of it
  /// is a function of the prompt.
  Result<void> score(Session& session) const {
    session.rewind(text_.size());
    return session.score(text_, tree_);
  }
  /// The laws at its contexts. Requires: a session that has scored it, and has done nothing since.
  NodeLaws laws(const Session& session, const Warp& warp, std::size_t vocabulary) const {
    return {session, warp, text_, tree_, vocabulary, session.vocabulary()};
  }
  /// What was scored becomes text.
  void keep(Session& session) const { session.keep(tree_.path(last())); }

 private:
  static std::span<const Token> text_before_last(std::span<const Token> prompt) {
    SPECTR_CHECK(prompt.size() >= 2);
    return prompt.first(prompt.size() - std::min(prompt.size() - 1, most_contexts));
  }
  NodeId last() const { return tree_.size() - 1; }

  std::span<const Token> text_;  // up to the first context
  TokenTree tree_;               // a chain: the tokens behind it
};

}  // namespace spectr
