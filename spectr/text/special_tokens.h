#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/text/marked_text.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// A part of a text: a special token, or plain text between special tokens.
struct Fragment {
  std::string_view text;
  std::optional<Token> token;
};

/// Finds the tokens of a vocabulary that are extracted from a text before tokenization: user-defined ones
/// always, control and unknown tokens only if the text is trusted ("<s>" is a token then). Tokens of more
/// than `longest_text` bytes are never found; their text stays plain.
class SpecialTokens {
 public:
  static constexpr std::size_t longest_text = 256;

  explicit SpecialTokens(const Vocabulary& vocabulary);

  /// Returns the fragments of a text, none of them empty, without white space after tokens that trim it.
  /// Longer tokens take precedence, wherever they occur; ties go to the lower id. Cost: O(n log n) for n
  /// bytes of text, and at each of them O(log m) for m tokens per byte, at most longest_text, that the text
  /// has in common with a token.
  std::vector<Fragment> split(std::string_view text, bool parse_special) const;

  /// Splits a text that is trusted except for its quotes: a control token is found if no byte of it is
  /// quoted. In quotes, a user-defined token is not found if it also occurs outside the quotes, unless it is
  /// white space: such a token divides the text like a control token, and files of several models declare
  /// theirs as user-defined.
  std::vector<Fragment> split(const MarkedText& text) const;

 private:
  struct Special {
    std::string text;
    Token token;
    bool user_defined;
    bool trims_after;
  };
  using Quotes = std::span<const MarkedText::Span>;
  using Dividers = std::set<const Special*>;

  std::vector<Fragment> split(std::string_view text, Quotes quotes) const;
  /// Returns the user-defined tokens that occur outside the quotes.
  Dividers dividers(std::string_view text, Quotes quotes) const;
  /// Returns the longest token that `text` begins with. Its first `trusted` bytes may be of any token; a
  /// longer token must be user-defined and not among `dividers`. Returns null if there is none.
  const Special* longest(std::string_view text, std::size_t trusted, const Dividers& dividers) const;

  std::vector<Special> specials_;        // sorted by text
  std::array<std::size_t, 257> begins_;  // index of the first special with each first byte
};

}  // namespace spectr
