#include "spectr/model/transformer_session.h"

namespace spectr {

Result<void> TransformerSession::score(std::span<const Token> text, const TokenTree& tree) {
  SPECTR_TRY_VOID(check(text, tree));
  for (bool complete = false; !complete;) {
    rows_.clear();
    complete = plan(text, tree, rows_);
    if (!rows_.empty()) pass_.run(rows_);
  }
  return {};
}

}  // namespace spectr
