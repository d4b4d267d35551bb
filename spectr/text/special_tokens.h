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

/// A part of a text: a special token, or plain text in between.
struct Fragment {
  std::string_view text;
  std::optional<Token> token;
};

/// Finds the tokens of a vocabulary that are taken out of a text before it is tokenized: user-defined ones
/// always, control and unknown tokens only where the text is trusted ("<s>" is a token then). Tokens of more
/// than `longest_text` bytes are never found: their text stays plain.
class SpecialTokens {
 public:
  static constexpr std::size_t longest_text = 256;

  explicit SpecialTokens(const Vocabulary& vocabulary);

  /// The fragments of a text, none empty, without the white space behind tokens that trim it. Longer tokens
  /// are found first, wherever they stand; of equally long ones the lower id. Cost: O(n log n) for n bytes of
  /// text, and at each of them O(log m) of m tokens for every byte, at most longest_text, that the text there
  /// has in common with one of them.
  std::vector<Fragment> split(std::string_view text, bool parse_special) const;

  /// The same of a text whose quotes are not trusted, and the rest is: a control token is found where no byte
  /// of it is quoted. Neither is a user-defined token found among quotes that the rest has somewhere, too,
  /// white space aside: what divides the text there is a control token by its use, and files of several
  /// models call theirs user-defined.
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
  /// The user-defined tokens outside the quotes.
  Dividers dividers(std::string_view text, Quotes quotes) const;
  /// The longest that `text` begins with, of which the first `trusted` bytes may be any token, and the others
  /// only parts of user-defined ones that divide nothing; null if there is none.
  const Special* longest(std::string_view text, std::size_t trusted, const Dividers& dividers) const;

  std::vector<Special> specials_;        // by text
  std::array<std::size_t, 257> begins_;  // where those with a first byte begin in there
};

}  // namespace spectr
