#include "spectr/model/transformer_session.h"

namespace spectr {

Result<void> TransformerSession::compute(std::span<const Token> text, const TokenTree& tree) {
  for (bool complete = false; !complete;) {
    rows_.clear();
    complete = plan(text, tree, rows_);
    if (!rows_.empty()) pass_.run(rows_);
  }
  return {};
}

}  // namespace spectr
