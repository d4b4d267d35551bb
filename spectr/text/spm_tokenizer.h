#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/tokenizer.h"

namespace spectr {

/// SentencePiece's byte-pair encoding (Kudo and Richardson 2018): spaces are written as U+2581, and of all
/// neighbours that together are a token, those with the best score are merged first. Characters that are no
/// token become byte tokens, or the unknown token where the vocabulary has not all of their bytes; where it
/// has no unknown token either, they are left out. U+2581 itself comes back as a space. Nothing is merged to
/// more than 1024 bytes, so that long tokens of a vocabulary made for it cost no more than that at a byte.
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
