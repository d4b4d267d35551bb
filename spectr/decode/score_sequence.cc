#include "spectr/decode/score_sequence.h"

#include <algorithm>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/lm/token_tree.h"
#include "spectr/sampling/likelihood.h"

namespace spectr {
namespace {

/// Calls `visit` for each token i ≥ first. The session finally holds all tokens.
Result<void> visit_chain(Session& session, std::span<const Token> tokens, std::size_t first, std::size_t rows,
                         const LogitsAfter& visit) {
  for (std::size_t begin = first; begin < tokens.size();) {
    // Tokens after `begin` form a chain of nodes; the root has the logits after `begin`.
    const std::size_t end = std::min(begin + rows, tokens.size());
    TokenTree chain(tokens[begin]);
    std::vector<NodeId> path;
    NodeId node = TokenTree::root;
    for (std::size_t i = begin + 1; i < end; ++i) path.push_back(node = chain.child(node, tokens[i]));
    SPECTR_TRY_VOID(session.score(tokens.first(begin + 1), chain));
    for (std::size_t i = begin; i < end; ++i) {
      const Logits logits = session.logits(i == begin ? TokenTree::root : path[i - begin - 1]);
      visit(i, logits);
      SPECTR_TRY_VOID(logits.state());
    }
    session.keep(path);
    begin = end;
  }
  return {};
}

}  // namespace

Result<void> score_sequence(Session& session, std::span<const Token> tokens, std::size_t rows,
                            const ScoredToken& scored) {
  SPECTR_CHECK(rows >= 1 && session.length() == 0);
  if (tokens.empty()) return {};
  return visit_chain(session, tokens.first(tokens.size() - 1), 0, rows,
                     [&](std::size_t i, const Logits& logits) { scored(i + 1, logits); });
}

Result<void> for_each_logits(const LanguageModel& model, std::size_t context, std::span<const Token> tokens,
                             std::size_t first, const LogitsAfter& visit) {
  constexpr std::size_t rows_per_pass = 64;
  SPECTR_TRY_VOID(check_tokens(tokens, model.vocabulary()));
  if (tokens.empty()) return error("tokens is empty");
  if (tokens.size() > context) {
    return error(ErrorCode::context_full, "tokens has {} entries, but the context holds {}", tokens.size(),
                 context);
  }
  SPECTR_TRY(const auto session, model.start(tokens.size(), rows_per_pass));
  return visit_chain(*session, tokens, first, rows_per_pass, visit);
}

Result<double> sum_of_losses(const LanguageModel& model, std::size_t context, std::span<const Token> tokens) {
  double sum = 0.0;
  SPECTR_TRY_VOID(for_each_logits(model, context, tokens, 0, [&](std::size_t i, const Logits& logits) {
    if (i + 1 < tokens.size()) sum += negative_log_likelihood(logits, tokens[i + 1]);
  }));
  return sum;
}

Result<void> check_tokens(std::span<const Token> tokens, std::size_t vocabulary) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || static_cast<std::size_t>(tokens[i]) >= vocabulary)
      return error("tokens[{}] must lie in [0, {}], got {}", i, vocabulary - 1, tokens[i]);
  }
  return {};
}

}  // namespace spectr
