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

/// The text of a prompt that an answer repeats.
struct EchoedPrompt {
  EchoedPrompt(std::span<const Token> prompt, const Tokenizer& tokenizer);

  std::string text;                       ///< without control tokens
  std::vector<std::string> pieces = {};   ///< the bytes of each token
  std::vector<std::size_t> offsets = {};  ///< characters of the text before each token
  std::size_t characters = 0;             ///< of the text
};

/// Tokens with their log-probabilities, as /v1/completions lists them.
class TokenList {
 public:
  explicit TokenList(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  /// Adds a token. A token whose log-probability is not known is told with null.
  void add(Token token, const std::string& piece, std::optional<double> log_probability,
           const std::vector<Alternative>& alternatives, std::size_t offset);
  /// Adds the tokens of a prompt, of which `scores` has all but the first.
  void add(std::span<const Token> prompt, const EchoedPrompt& echo, std::span<const PromptScore> scores);

  /// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}.
  Json json() &&;

 private:
  const Vocabulary& vocabulary_;
  Json tokens_ = Json::array(), own_ = Json::array(), top_ = Json::array(), offsets_ = Json::array();
};

}  // namespace spectr::server
