#pragma once

#include <cstddef>

#include "spectr/lm/token_tree.h"

namespace spectr {

/// Returns a root with rows − 1 children, for timing passes, whose cost does not depend on the shape of the
/// tree. Requires: 1 ≤ rows ≤ vocabulary.
inline TokenTree flat_tree(std::size_t rows) {
  TokenTree tree(0);
  for (std::size_t i = 1; i < rows; ++i) tree.child(TokenTree::root, static_cast<Token>(i));
  return tree;
}

}  // namespace spectr
