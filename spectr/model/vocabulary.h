#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/model/gguf.h"

namespace spectr {

/// Kinds of tokens, numbered as in the file.
enum class TokenKind : int { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

/// The tokens of a model: texts, scores, kinds, special ids. Owns its strings.
class Vocabulary {
 public:
  /// Reads `tokenizer.ggml.*`. Checked: array types and lengths agree, special ids lie inside, byte tokens
  /// are <0x00> … <0xFF>. Errors name the file and the key.
  static Result<Vocabulary> load(const Gguf& file);

  std::size_t size() const { return texts_.size(); }
  const std::string& text(Token token) const { return texts_[static_cast<std::size_t>(token)]; }
  float score(Token token) const { return scores_[static_cast<std::size_t>(token)]; }
  TokenKind kind(Token token) const { return kinds_[static_cast<std::size_t>(token)]; }
  /// The token of that text; the lowest id where several share it.
  std::optional<Token> find(std::string_view text) const;

  std::optional<Token> bos() const { return bos_; }
  std::optional<Token> eos() const { return eos_; }
  std::optional<Token> unknown() const { return unknown_; }
  bool add_bos() const { return add_bos_; }
  /// Tokens that end a text: eos, and the end-of-turn tokens of chat models.
  const std::vector<Token>& ends() const { return ends_; }
  bool is_end(Token token) const;

 private:
  std::vector<std::string> texts_;
  std::vector<float> scores_;
  std::vector<TokenKind> kinds_;
  std::unordered_map<std::string_view, Token> ids_;  // views of texts_
  std::optional<Token> bos_, eos_, unknown_;
  std::vector<Token> ends_;
  bool add_bos_ = false;
};

}  // namespace spectr
