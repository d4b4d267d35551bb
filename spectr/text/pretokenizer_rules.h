#pragma once

#include <span>
#include <string_view>

namespace spectr {

/// How a byte-level tokenizer cuts text into words before it merges inside them.
struct PretokenizerRule {
  /// Applied one after another, each to the pieces that the ones before have left. A match is a piece, and
  /// so is what lies between two matches. In the syntax of PCRE2 with UTF and UCP.
  std::span<const std::string_view> regexes;
  bool whole_words = false;  ///< a word that is a token is taken as it is, without merging ("ignore_merges")
  bool add_bos = false;      ///< texts begin with BOS unless the file says otherwise
  bool composes = false;     ///< text is composed (Unicode's form C) before it is cut
};

/// The rule that `tokenizer.ggml.pre` names; null for an unknown name.
const PretokenizerRule* find_pretokenizer_rule(std::string_view name);

}  // namespace spectr
