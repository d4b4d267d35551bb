#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// How often the tokens of a vocabulary occur in some texts. They determine the tokens that a draft model
/// should know, see shortlist_of(). The file format is text: a line that identifies the vocabulary, then one
/// for each token that occurs, the most frequent first:
///
///     spectr-token-frequencies 1 VOCABULARY-SIZE FINGERPRINT
///     TOKEN COUNT
class TokenFrequencies {
 public:
  explicit TokenFrequencies(const Vocabulary& vocabulary);

  void add(std::span<const Token> tokens);

  struct Count {
    Token token;
    std::uint64_t count;
  };
  /// Returns the tokens that occur, the most frequent first; ties go to the lower id.
  std::vector<Count> ranked() const;

  /// Returns the file of the `most` most frequent tokens.
  std::string file(std::size_t most) const;
  /// Returns the tokens of such a file, in its order. Fails, with the file and the line, if it cannot be
  /// read, has another format or vocabulary, or lists a token twice.
  static Result<std::vector<Token>> read(const std::string& path, const Vocabulary& vocabulary);

 private:
  std::size_t size_;
  std::uint64_t fingerprint_;
  std::vector<std::uint64_t> counts_;  // by token
};

/// Minimum useful size of a shortlist.
inline constexpr std::size_t min_shortlist = 256;

/// Returns these tokens and the end tokens, ascending: those whose logits a draft model computes.
std::vector<Token> shortlist_of(std::vector<Token> tokens, const Vocabulary& vocabulary);

}  // namespace spectr
