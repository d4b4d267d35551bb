#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spectr/base/hash.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/gguf/gguf.h"
#include "spectr/text/pretokenizer_rules.h"

namespace spectr {

/// Kinds of tokenizers: `tokenizer.ggml.model` is "llama", "gpt2", "gemma4" or "bert".
enum class TokenizerType { sentencepiece, byte_level, character_bpe, word_piece };

/// Kinds of tokens, numbered as in the file (where 0, undefined, is read as normal).
enum class TokenKind : int { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

/// The tokens around a gap to be filled (fill in the middle), as far as a model has them.
struct InfillTokens {
  std::optional<Token> prefix, suffix, middle;
  std::optional<Token> repository, file;  ///< before the name of a repository, and of a file
};

/// The tokens of a model: texts, scores, kinds, special ids. Owns its strings. All functions require tokens
/// with 0 ≤ token < size().
class Vocabulary {
 public:
  /// Reads `tokenizer.ggml.*`. Fails, naming the file and the key, if there are no tokens, array types or
  /// lengths disagree, byte tokens are not <0x00> … <0xFF>, or the pre-tokenizer of a byte-level vocabulary
  /// is unknown (a missing one means GPT-2's in old files of gpt2 and gptneox). If several tokens share a
  /// text, lookups find the lowest id. A special id that is missing or out of range (with a warning) has the
  /// format's default (llama: unknown 0, beginning 1, end 2; gpt2: beginning and end 11 if that is a control
  /// token; bert: unknown 100, beginning 101, end 102) or is absent.
  static Result<Vocabulary> load(const Gguf& file);

  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  /// Returns the file that the vocabulary comes from, for messages.
  const std::string& source() const { return source_; }
  /// Returns the settings of the file that were not used, one line each.
  const std::vector<std::string>& warnings() const { return warnings_; }
  TokenizerType type() const { return type_; }
  /// Returns how a byte-level tokenizer splits text into words. Requires: type() is byte_level.
  const PretokenizerRule& pretokenizer() const { return *pretokenizer_; }
  /// True if text is composed (composed_text()) before it is split. Files do not say so; the tokenizers of
  /// Qwen 2 to 3, of DeepSeek's distillations into them, and of GPT-NeoX do it.
  bool composes() const { return composes_; }

  std::size_t size() const { return texts_.size(); }
  const std::string& text(Token token) const { return texts_[static_cast<std::size_t>(token)]; }
  float score(Token token) const { return scores_[static_cast<std::size_t>(token)]; }
  TokenKind kind(Token token) const { return kinds_[static_cast<std::size_t>(token)]; }

  /// Returns the token of that text, of any kind.
  std::optional<Token> find(std::string_view text) const;
  /// Returns such a token if plain text may become it: not a control, unknown or byte token.
  std::optional<Token> find_plain(std::string_view text) const;
  /// True if the token adds to a text: any but unused and unknown tokens, and control tokens that are not
  /// markers (known_tokens.h).
  bool is_printed(Token token) const;
  /// True if white space after the token is not text, as after Phi-3's tokens that open and close turns.
  bool trims_after(Token token) const;
  /// Returns the token of one byte.
  std::optional<Token> byte_token(std::uint8_t byte) const { return byte_tokens_[byte]; }
  /// Returns the byte of a byte token. Requires: a token of kind `byte`.
  char byte(Token token) const;

  std::optional<Token> bos() const { return bos_; }
  std::optional<Token> eos() const { return eos_; }
  std::optional<Token> unknown() const { return unknown_; }
  /// True if texts begin with bos(). Implies bos().
  bool add_bos() const { return add_bos_; }
  /// True if texts that are not to be continued, such as those of embeddings, end with eos(). Implies eos().
  bool add_eos() const { return add_eos_; }
  /// Returns the end tokens, ascending: eos, the tokens that the file declares to end a turn, a message or an
  /// infilled completion, and tokens whose text is known to end one ("<|im_end|>" …, known_tokens.h) unless
  /// the file declares them normal text.
  const std::vector<Token>& ends() const { return ends_; }
  bool is_end(Token token) const;
  /// Returns the infill tokens that the file declares (`tokenizer.ggml.fim_pre_token_id` …, or the older
  /// `prefix_token_id` …), or else those identified by their text (known_tokens.h).
  const InfillTokens& infill() const { return infill_; }

 private:
  Vocabulary() = default;
  Result<void> read_pretokenizer(const Gguf& file);
  Result<void> read_tokens(const Gguf& file);
  Result<void> read_kinds(const Gguf& file);
  Result<void> index_bytes(const Gguf& file);
  Result<void> read_special(const Gguf& file);
  /// Returns the token of that text, unless the file declares it normal text.
  std::optional<Token> known(std::string_view text) const;
  Result<void> read_infill(const Gguf& file);
  Result<void> read_ends(const Gguf& file);
  Result<void> read_trimming(const Gguf& file);
  Result<void> read_additions(const Gguf& file);
  Result<std::optional<Token>> special(const Gguf& file, std::string_view key, std::optional<Token> fallback);

  std::string source_;
  std::vector<std::string> warnings_;
  TokenizerType type_ = TokenizerType::sentencepiece;
  const PretokenizerRule* pretokenizer_ = nullptr;  // one of the constant rules
  bool composes_ = false;
  std::vector<std::string> texts_;
  std::vector<float> scores_;
  std::vector<TokenKind> kinds_;
  bool kinds_given_ = false;
  std::unordered_map<std::string_view, Token, KeyedHash> ids_;  // views of texts_
  std::array<std::optional<Token>, 256> byte_tokens_;
  std::optional<Token> bos_, eos_, unknown_;
  std::vector<Token> ends_;
  InfillTokens infill_;
  std::vector<Token> markers_;  // ascending
  bool add_bos_ = false;
  bool add_eos_ = false;
  bool trims_ = false;
};

}  // namespace spectr
