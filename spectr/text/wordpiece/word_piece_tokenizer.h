#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/tokenizer.h"
#include "spectr/text/wordpiece/basic_text.h"

namespace spectr {

/// WordPiece as BERT has it: each of basic_words() becomes the longest tokens that it consists of, from left
/// to right. A word of which a part is no token, or of more than 100 characters, is the unknown token. The
/// vocabulary writes U+2581 before tokens that begin a word. decode() gives words divided by spaces, not the
/// text as it was.
class WordPieceTokenizer final : public Tokenizer {
 public:
  /// Reads `tokenizer.ggml.normalizer.lowercase` and `.strip_accents`, by default true and the same.
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
