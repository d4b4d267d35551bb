#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/model/gguf.h"
#include "spectr/model/vocabulary.h"

namespace spectr {

/// What text may mean to a tokenizer besides itself.
struct TokenizeOptions {
  bool add_bos = true;         ///< prepend the beginning token where the vocabulary asks for it
  bool parse_special = false;  ///< "<s>" in the text is the token, not three characters
};

/// Text ⇄ token ids, as the model's own tokenizer does it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokenizer described by a file's metadata (vocabulary-only files will do).
  static Result<std::unique_ptr<Tokenizer>> load(const Gguf& file);

  /// The ids of a text: any bytes, valid UTF-8 or not.
  std::vector<Token> encode(std::string_view text, const TokenizeOptions& options = {}) const;

  /// The text of a sequence of ids. Control tokens are left out; a leading space that encode() put in is
  /// taken out again. Requires: every id within the vocabulary.
  std::string decode(std::span<const Token> tokens) const;

  /// The bytes that a token adds to a running text (streaming). Byte tokens give their single byte, which may
  /// be a part of a UTF-8 character; control tokens give "".
  virtual std::string piece(Token token) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  /// Ids of a stretch of text without special tokens; `first` where it begins the whole text.
  virtual void encode_plain(std::string_view text, bool first, std::vector<Token>& out) const = 0;
  /// Whether encode() puts a space before the text that decode() must take out.
  virtual bool adds_prefix_space() const { return false; }

 private:
  Vocabulary vocabulary_;
};

}  // namespace spectr
