#include "spectr/decode/score_sequence.h"

#include <algorithm>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/lm/token_tree.h"

namespace spectr {

Result<void> score_sequence(Session& session, std::span<const Token> tokens, std::size_t rows,
                            const ScoredToken& scored) {
  SPECTR_CHECK(rows >= 1 && session.length() == 0);
  for (std::size_t begin = 0; begin + 1 < tokens.size();) {
    // Tokens begin … end−1 predict begin+1 … end. All except the first form a chain of nodes.
    const std::size_t end = std::min(begin + rows, tokens.size() - 1);
    TokenTree chain(tokens[begin]);
    std::vector<NodeId> path;
    NodeId node = TokenTree::root;
    for (std::size_t i = begin + 1; i < end; ++i) path.push_back(node = chain.child(node, tokens[i]));
    SPECTR_TRY_VOID(session.score(tokens.first(begin + 1), chain));
    node = TokenTree::root;
    for (std::size_t i = begin; i < end; ++i) {
      scored(i + 1, session.logits(node));
      if (i + 1 < end) node = path[i - begin];
    }
    session.keep(path);
    begin = end;
  }
  return {};
}

}  // namespace spectr
