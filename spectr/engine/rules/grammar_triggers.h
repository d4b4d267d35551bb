#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"

struct pcre2_real_code_8;

namespace spectr {

/// A trigger in an answer, at which a lazy grammar begins.
struct GrammarTrigger {
  enum class Kind {
    word,          ///< a text
    token,         ///< a token
    pattern,       ///< the match of a regular expression
    pattern_full,  ///< a regular expression that matches the whole answer so far
  };
  Kind kind;
  std::string text = {};  ///< the word or the regular expression (PCRE2)
  Token token = 0;
};

/// Compiled triggers for searching. Immutable; thread-safe.
class GrammarTriggers {
 public:
  /// Fails if a word or an expression is empty, malformed or longer than 4096 bytes. `field` names them.
  static Result<std::shared_ptr<const GrammarTriggers>> make(std::span<const GrammarTrigger> triggers,
                                                             std::string_view field);

  /// Returns where the grammar begins in the text of an answer that has just grown by a token: at the token,
  /// at the word, at the first non-empty group of the match, or at the match. Returns nothing if there is no
  /// trigger yet. `known`: bytes of the text before the token. Cost: O(new text) for words, O(text) for
  /// expressions, with at most a million steps for each expression.
  std::optional<std::size_t> find(std::string_view text, std::size_t known, Token last) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  using Pattern = std::unique_ptr<pcre2_real_code_8, Free>;

  GrammarTriggers() = default;
  static std::optional<std::size_t> match(const Pattern& pattern, std::string_view text);

  std::vector<Token> tokens_;
  std::vector<std::string> words_;
  std::vector<Pattern> patterns_;
};

}  // namespace spectr
