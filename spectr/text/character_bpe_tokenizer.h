#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/bpe_merges.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// Byte-pair encoding of characters, as in Gemma 4: spaces are written as U+2581, and the text between two
/// line ends is one word. A run of line ends that is a token is not merged. Characters that are not tokens
/// become byte tokens, or the unknown token if the vocabulary lacks some of their bytes.
class CharacterBpeTokenizer final : public Tokenizer {
 public:
  /// Fails as BpeMerges::load().
  static Result<std::unique_ptr<Tokenizer>> load(const Gguf& file, Vocabulary vocabulary);

 private:
  CharacterBpeTokenizer(Vocabulary vocabulary, BpeMerges merges);
  std::string text_piece(std::string_view text) const override;
  void encode_plain(std::string_view text, bool first, std::vector<Token>& out) const override;
  void encode_word(std::string_view word, std::vector<Token>& out) const;

  BpeMerges merges_;
};

}  // namespace spectr
