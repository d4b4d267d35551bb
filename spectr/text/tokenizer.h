#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/gguf/gguf.h"
#include "spectr/text/marked_text.h"
#include "spectr/text/special_tokens.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// How special tokens are handled in a text.
struct TokenizeOptions {
  /// Prepend the beginning token if the vocabulary asks for it and the text does not begin with it.
  bool add_bos = true;
  bool parse_special = false;  ///< "<s>" in the text is the token, not three characters
  /// Append the ending token if the vocabulary asks for it; for texts that are not to be continued.
  bool add_eos = false;
};

/// Converts between text and token ids, as the model's own tokenizer does. Thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Loads the tokenizer that a file's metadata describes (a vocabulary-only file is enough).
  static Result<std::unique_ptr<Tokenizer>> load(const Gguf& file);

  /// Returns the ids of a text, which may be any bytes. Cost: O(n log n), whatever the vocabulary: very long
  /// special tokens (SpecialTokens::longest_text) and SentencePiece tokens are not matched.
  std::vector<Token> encode(std::string_view text, const TokenizeOptions& options = {}) const;
  /// Encodes a text whose quotes are plain text, and in the rest of which "<s>" is the token.
  std::vector<Token> encode(const MarkedText& text, bool add_bos) const;

  /// Returns the text of a sequence of ids. Tokens that are not printed are omitted or, with `all`, shown by
  /// their names. Spaces that encode() inserts, at the beginning and after control and user-defined tokens,
  /// are removed. Requires: every id is within the vocabulary. Use TextStream for tokens that come one by
  /// one.
  std::string decode(std::span<const Token> tokens, bool all = false) const;

  /// Returns the bytes that a token appends to a text. Byte tokens give their single byte, which may be part
  /// of a UTF-8 character; tokens that are not printed give "". Requires: token within the vocabulary.
  std::string piece(Token token) const;

  /// True if encode() inserts a space before a text, and after each special token.
  virtual bool adds_prefix_space() const { return false; }

  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)), specials_(vocabulary_) {}

  /// Appends the ids of a text without special tokens. `first`: it begins the text or follows a special
  /// token.
  virtual void encode_plain(std::string_view text, bool first, std::vector<Token>& out) const = 0;
  /// Appends the encoding of a character that is not a token: its bytes' tokens, or the unknown token if the
  /// vocabulary lacks some of them, or nothing if it has no unknown token either.
  void encode_bytes(std::string_view character, std::vector<Token>& out) const;

 private:
  std::vector<Token> encode(std::span<const Fragment> fragments, bool add_bos) const;
  /// Returns the bytes of a plain-text token.
  virtual std::string text_piece(std::string_view text) const = 0;

  Vocabulary vocabulary_;
  SpecialTokens specials_;
};

}  // namespace spectr
