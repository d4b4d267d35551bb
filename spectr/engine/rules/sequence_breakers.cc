#include "spectr/engine/rules/sequence_breakers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/base/names.h"

namespace spectr {
namespace {

void add_breaker(std::string_view breaker, const Tokenizer& tokenizer, const std::vector<std::string>& pieces,
                 SequenceBreakers& found) {
  constexpr std::size_t max_tail = 20;                    // tokens
  std::vector<std::vector<Token>> tails(breaker.size());  // tails of the breaker, by the bytes before them
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view piece = pieces[i];
    const auto token = static_cast<Token>(i);
    const auto add = [&](const std::vector<Token>& tail) {
      const auto [first, last] = found.equal_range(token);
      if (std::none_of(first, last, [&](const auto& one) { return one.second == tail; }))
        found.emplace(token, tail);
    };
    if (piece.contains(breaker)) {
      add({});
      continue;
    }
    for (std::size_t bytes = 1; bytes < breaker.size(); ++bytes) {
      if (!piece.ends_with(breaker.substr(0, bytes))) continue;
      if (tails[bytes].empty()) {
        tails[bytes] = tokenizer.encode(breaker.substr(bytes), {.add_bos = false});
        tails[bytes].resize(std::min(tails[bytes].size(), max_tail));
      }
      add(tails[bytes]);
    }
  }
}

}  // namespace

Result<std::shared_ptr<const SequenceBreakers>> find_sequence_breakers(const DryOptions& dry,
                                                                       const Tokenizer& tokenizer) {
  const std::vector<std::string>& texts =
      dry.sequence_breakers ? *dry.sequence_breakers : default_sequence_breakers();
  if (texts.size() > max_sequence_breakers)
    return error("dry_sequence_breakers: at most {} are possible, got {}", max_sequence_breakers,
                 texts.size());
  for (const std::string& text : texts) {
    if (text.empty() || text.size() > max_breaker_bytes) {
      return error("dry_sequence_breakers: one must have 1 to {} bytes, got '{}'", max_breaker_bytes,
                   escape(text));
    }
  }
  std::vector<std::string> pieces;
  for (std::size_t token = 0; token < tokenizer.vocabulary().size() && !texts.empty(); ++token)
    pieces.push_back(tokenizer.piece(static_cast<Token>(token)));
  auto found = std::make_shared<SequenceBreakers>();
  for (const std::string& text : texts) add_breaker(text, tokenizer, pieces, *found);
  return found;
}

}  // namespace spectr
