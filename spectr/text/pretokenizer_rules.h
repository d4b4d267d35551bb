#pragma once

#include <span>
#include <string_view>

namespace spectr {

/// How a byte-level tokenizer splits text into words, inside which it merges.
struct PretokenizerRule {
  /// Applied in order, each to the pieces left by the previous ones. A match is a piece, and so is the text
  /// between two matches. The syntax is that of PCRE2 with UTF and UCP.
  std::span<const std::string_view> regexes;
  bool whole_words = false;  ///< a word that is a token is not merged ("ignore_merges")
  bool add_bos = false;      ///< texts begin with BOS unless the file says otherwise
  bool composes = false;     ///< text is composed (Unicode's form C) before it is split
};

/// Returns the rule that `tokenizer.ggml.pre` names; null for an unknown name.
const PretokenizerRule* find_pretokenizer_rule(std::string_view name);

}  // namespace spectr
