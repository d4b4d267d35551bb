#include "apps/server/answers/token_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/server/answers/report.h"
#include "spectr/base/utf8.h"
#include "spectr/text/text_stream.h"

namespace spectr::server {
namespace {

/// Returns the name of a token in completions: its text or, as in OpenAI's API, bytes:\xe2\x80 if it is not
/// complete UTF-8. Tokens without text get their vocabulary entry, which keeps names distinct.
std::string token_name(const Vocabulary& vocabulary, Token token, const std::string& piece) {
  if (piece.empty()) return vocabulary.text(token);
  if (is_text(piece)) return piece;
  std::string name = "bytes:";
  for (const char byte : piece) name += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return name;
}

}  // namespace

EchoedPrompt::EchoedPrompt(std::span<const Token> prompt, const Tokenizer& tokenizer) {
  TextStream stream(tokenizer, TextStream::Start::text);
  const auto add = [this](const std::string& more) {
    text += more;
    characters += utf8_characters(more);
  };
  for (const Token token : prompt) {
    pieces.push_back(tokenizer.piece(token));
    offsets.push_back(characters);
    add(stream.push(token));
  }
  add(stream.finish());
}

void TokenList::add(Token token, const std::string& piece, std::optional<double> log_probability,
                    const std::vector<Alternative>& alternatives, std::size_t offset) {
  tokens_.push_back(token_name(vocabulary_, token, piece));
  offsets_.push_back(offset);
  if (!log_probability) {
    own_.push_back(nullptr);
    top_.push_back(nullptr);
    return;
  }
  own_.push_back(*log_probability);
  Json others = Json::object();
  const auto tell = [&](Token one, const std::string& text, double value) {
    std::string name = token_name(vocabulary_, one, text);
    if (others.contains(name)) name += fmt::format("#{}", one);  // the less likely of equal names
    others.emplace(std::move(name), value);
  };
  for (const Alternative& other : alternatives) tell(other.token, other.piece, other.log_probability);
  if (std::ranges::find(alternatives, token, &Alternative::token) == alternatives.end())
    tell(token, piece, *log_probability);
  top_.push_back(std::move(others));
}

void TokenList::add(std::span<const Token> prompt, const EchoedPrompt& echo,
                    std::span<const PromptScore> scores) {
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    const bool is_scored = i > 0 && i <= scores.size();
    add(prompt[i], echo.pieces[i], is_scored ? std::optional(scores[i - 1].log_probability) : std::nullopt,
        is_scored ? scores[i - 1].alternatives : std::vector<Alternative>(), echo.offsets[i]);
  }
}

Json TokenList::json() && {
  return {{"tokens", std::move(tokens_)},
          {"token_logprobs", std::move(own_)},
          {"top_logprobs", std::move(top_)},
          {"text_offset", std::move(offsets_)}};
}

}  // namespace spectr::server
