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

/// How often the tokens of a vocabulary occur in some texts: which of them a draft model should know, see
/// shortlist_of(). As a file it is text, a line that says of which vocabulary and then one for each token
/// that occurs, the most frequent first:
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
  /// The tokens that occur, the most frequent first, of those that are equally frequent the lower id.
  std::vector<Count> ranked() const;

  /// The file of the `most` most frequent ones.
  std::string file(std::size_t most) const;
  /// The tokens of such a file, in its order. Error: a file that cannot be read, is of another form or of
  /// another vocabulary, or has a token twice: with the file and the line.
  static Result<std::vector<Token>> read(const std::string& path, const Vocabulary& vocabulary);

 private:
  std::size_t size_;
  std::uint64_t fingerprint_;
  std::vector<std::uint64_t> counts_;  // by token
};

/// The least useful number of tokens of a shortlist.
inline constexpr std::size_t min_shortlist = 256;

/// These tokens, and those that end texts, ascending: what a draft model computes logits of.
std::vector<Token> shortlist_of(std::vector<Token> tokens, const Vocabulary& vocabulary);

}  // namespace spectr
