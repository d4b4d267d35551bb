#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "spectr/engine/completion_text.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// The text of an echoed prompt.
struct EchoedPrompt {
  EchoedPrompt(std::span<const Token> prompt, const Tokenizer& tokenizer);

  std::string text;                       ///< without control tokens
  std::vector<std::string> pieces = {};   ///< bytes of each token
  std::vector<std::size_t> offsets = {};  ///< number of characters before each token
  std::size_t characters = 0;             ///< length of the text
};

/// Tokens with their log-probabilities in the format of /v1/completions.
class TokenList {
 public:
  explicit TokenList(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  /// Adds a token. An unknown log-probability is reported as null.
  void add(Token token, const std::string& piece, std::optional<double> log_probability,
           const std::vector<Alternative>& alternatives, std::size_t offset);
  /// Adds the tokens of a prompt. `scores` covers all of them except the first.
  void add(std::span<const Token> prompt, const EchoedPrompt& echo, std::span<const PromptScore> scores);

  /// Returns {"tokens", "token_logprobs", "top_logprobs", "text_offset"}.
  Json json() &&;

 private:
  const Vocabulary& vocabulary_;
  Json tokens_ = Json::array(), own_ = Json::array(), top_ = Json::array(), offsets_ = Json::array();
};

}  // namespace spectr::server
