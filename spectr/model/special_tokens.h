#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/model/vocabulary.h"

namespace spectr {

/// A part of a text: a special token, or plain text in between.
struct Fragment {
  std::string_view text;
  std::optional<Token> token;
};

/// Finds the tokens of a vocabulary that are taken out of a text before it is tokenized: user-defined ones
/// always, control and unknown tokens only where the caller trusts the text ("<s>" is a token then).
class SpecialTokens {
 public:
  explicit SpecialTokens(const Vocabulary& vocabulary);

  /// The fragments of a text, none empty. Longer tokens are found first, wherever they stand; of equally long
  /// ones the lower id. Cost: linear in the text for each token.
  std::vector<Fragment> split(std::string_view text, bool parse_special) const;

 private:
  struct Special {
    std::string text;
    Token token;
    bool user_defined;
  };
  std::vector<Special> specials_;  // longest first
};

}  // namespace spectr
