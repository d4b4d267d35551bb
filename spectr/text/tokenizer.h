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

/// What text may mean to a tokenizer besides itself.
struct TokenizeOptions {
  /// Prepend the beginning token if the vocabulary asks for it, and the text does not begin with it.
  bool add_bos = true;
  bool parse_special = false;  ///< "<s>" in the text is the token, not three characters
  /// Append the ending token if the vocabulary asks for it: of texts that are not to be continued.
  bool add_eos = false;
};

/// Text ⇄ token ids, as the model's own tokenizer does it. Safe to use from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokenizer described by a file's metadata (vocabulary-only files will do).
  static Result<std::unique_ptr<Tokenizer>> load(const Gguf& file);

  /// The ids of a text: any bytes, valid UTF-8 or not. Cost: O(n log n), whatever the vocabulary: special
  /// tokens (SpecialTokens::longest_text) and SentencePiece's of extreme length are not looked for.
  std::vector<Token> encode(std::string_view text, const TokenizeOptions& options = {}) const;
  /// The same of a text whose quotes are plain text, and in the rest of which "<s>" is the token.
  std::vector<Token> encode(const MarkedText& text, bool add_bos) const;

  /// The text of a sequence of ids. Tokens that are not printed are left out, or with `all` shown by their
  /// names; spaces that encode() put in, at the beginning and after control and user-defined tokens,
  /// are taken out again. Requires: every id within the vocabulary. For tokens that come one by one:
  /// TextStream.
  std::string decode(std::span<const Token> tokens, bool all = false) const;

  /// The bytes that a token adds to a running text. Byte tokens give their single byte, which may be a part
  /// of a UTF-8 character; tokens that are not printed give "". Requires: token within the vocabulary.
  std::string piece(Token token) const;

  /// Whether encode() puts a space before a text, and before what follows a special token.
  virtual bool adds_prefix_space() const { return false; }

  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)), specials_(vocabulary_) {}

  /// Appends the ids of a stretch of text without special tokens; `first` where it begins the text or follows
  /// a special token.
  virtual void encode_plain(std::string_view text, bool first, std::vector<Token>& out) const = 0;
  /// Appends what stands for a character that is no token: its bytes' tokens, or the unknown token where the
  /// vocabulary has not all of these; nothing where it has no unknown token either.
  void encode_bytes(std::string_view character, std::vector<Token>& out) const;

 private:
  std::vector<Token> encode(std::span<const Fragment> fragments, bool add_bos) const;
  /// The bytes of a token of plain text.
  virtual std::string text_piece(std::string_view text) const = 0;

  Vocabulary vocabulary_;
  SpecialTokens specials_;
};

}  // namespace spectr
