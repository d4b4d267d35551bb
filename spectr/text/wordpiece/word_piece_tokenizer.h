#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/tokenizer.h"
#include "spectr/text/wordpiece/basic_text.h"

namespace spectr {

/// WordPiece as in BERT: each of basic_words() is split from left to right into the longest possible tokens.
/// A word with a part that is not a token, or with more than 100 characters, becomes the unknown token. The
/// vocabulary writes U+2581 before tokens that begin a word. decode() gives words separated by spaces, not
/// the original text.
class WordPieceTokenizer final : public Tokenizer {
 public:
  /// Reads `tokenizer.ggml.normalizer.lowercase`, true by default, and `.strip_accents`, by default the same.
  static Result<std::unique_ptr<Tokenizer>> load(const Gguf& file, Vocabulary vocabulary);

  bool adds_prefix_space() const override { return true; }

 private:
  WordPieceTokenizer(Vocabulary vocabulary, const BasicTextOptions& options);
  std::string text_piece(std::string_view text) const override;
  void encode_plain(std::string_view text, bool first, std::vector<Token>& out) const override;
  bool encode_word(std::string_view word, std::vector<Token>& out) const;

  BasicTextOptions options_;
  std::size_t longest_ = 0;  // bytes of a token's text
};

}  // namespace spectr
