#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/tokenizer.h"

namespace spectr {

/// SentencePiece's byte-pair encoding (Kudo and Richardson 2018): spaces are written as U+2581, and of all
/// adjacent pairs that form a token, the one with the best score is merged first. Characters that are not
/// tokens become byte tokens, or the unknown token if the vocabulary lacks some of their bytes; without an
/// unknown token, they are dropped. U+2581 itself decodes to a space. Merges are limited to 1024 bytes, which
/// bounds the cost of vocabularies with very long tokens.
class SpmTokenizer final : public Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> load(const Gguf& file, Vocabulary vocabulary);

  bool adds_prefix_space() const override { return prefix_space_; }

 private:
  SpmTokenizer(Vocabulary vocabulary, bool prefix_space)
      : Tokenizer(std::move(vocabulary)), prefix_space_(prefix_space) {}
  std::string text_piece(std::string_view text) const override;
  void encode_plain(std::string_view text, bool first, std::vector<Token>& out) const override;

  bool prefix_space_;
};

}  // namespace spectr
