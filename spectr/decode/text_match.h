#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/token.h"

namespace spectr {

/// An earlier place in a text where the same tokens stand as at its end.
struct TextMatch {
  std::size_t length = 0;            ///< tokens that agree; 0: the last token stands nowhere else
  std::span<const Token> next = {};  ///< what followed them, up to the end of the text

  /// The text's i-th next token if it goes on as it did there, in circles where it reaches its own end.
  /// Requires: length > 0.
  Token goes_on(std::size_t i) const { return next[i % next.size()]; }
};

/// The place where most tokens agree, of which no more than `most` count; the latest of several. Requires: a
/// text that is not empty, most ≥ 1. Cost: a look at every token of the text, and `most` where many repeat.
TextMatch match_end(std::span<const Token> text, std::size_t most);

}  // namespace spectr
