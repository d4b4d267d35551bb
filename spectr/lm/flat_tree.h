#pragma once

#include <cstddef>

#include "spectr/lm/token_tree.h"

namespace spectr {

/// A root with rows − 1 nodes below it, for passes that are timed: what they cost does not depend on the
/// shape of their tree. Requires: 1 ≤ rows ≤ vocabulary.
inline TokenTree flat_tree(std::size_t rows) {
  TokenTree tree(0);
  for (std::size_t i = 1; i < rows; ++i) tree.child(TokenTree::root, static_cast<Token>(i));
  return tree;
}

}  // namespace spectr
