#include "spectr/text/vocabulary_match.h"

#include <algorithm>

#include "spectr/base/names.h"

namespace spectr {
namespace {

std::string_view describe(TokenizerType type) {
  switch (type) {
    case TokenizerType::sentencepiece:
      return "SentencePiece";
    case TokenizerType::character_bpe:
      return "of characters";
    case TokenizerType::word_piece:
      return "WordPiece";
    case TokenizerType::byte_level:
      break;
  }
  return "byte-level";
}

bool has(const Vocabulary& vocabulary, Token token) {
  return static_cast<std::size_t>(token) < vocabulary.size();
}

bool is_padding(const Vocabulary& vocabulary, Token token) {
  const std::string_view text = vocabulary.text(token);
  return vocabulary.kind(token) == TokenKind::unused || text.empty() || text.starts_with("[PAD") ||
         text.starts_with("<pad") || text.starts_with("<|PAD");
}

bool is_special(const Vocabulary& vocabulary, Token token) {
  const TokenKind kind = vocabulary.kind(token);
  return kind == TokenKind::control || kind == TokenKind::user_defined || kind == TokenKind::unknown;
}

/// Result of comparing an id in two vocabularies.
enum class Match { same, special, none };

Match compare(const Vocabulary& target, const Vocabulary& draft, Token token) {
  const bool both = has(target, token) && has(draft, token);
  if (both && target.text(token) == draft.text(token)) return Match::same;
  bool special = true;
  for (const Vocabulary* one : {&target, &draft}) {
    if (!has(*one, token)) continue;
    if (is_padding(*one, token)) return Match::same;
    special = special && is_special(*one, token);
  }
  return special ? Match::special : Match::none;
}

std::string shown(const Vocabulary& vocabulary, Token token) {
  return has(vocabulary, token) ? quote(vocabulary.text(token)) : "absent";
}

std::unexpected<Error> differ(const Vocabulary& target, const Vocabulary& draft, std::string_view what,
                              std::string_view in_target, std::string_view in_draft, std::string_view rest) {
  return error("{} cannot draft for {}: {} is {} in the target, {} in the draft{}; {}", draft.source(),
               target.source(), what, in_target, in_draft, rest, fitting_drafts(target));
}

/// A family of published models with one vocabulary, identified by one of its tokens and by its size.
struct Family {
  std::string_view token;
  std::size_t min_size, max_size;
  std::string_view name;
  std::string_view drafts;
};

constexpr Family families[] = {
    {"<|im_start|>", 151'000, 153'000, "Qwen 2, 2.5 and 3", "Qwen3-0.6B or Qwen2.5-Coder-0.5B"},
    {"<|im_start|>", 248'000, 249'000, "Qwen 3.5 and later", "Qwen3.5-0.8B"},
    {"<|im_start|>", 49'152, 49'400, "SmolLM", "SmolLM2-135M"},
    {"<|begin_of_text|>", 128'000, 129'000, "Llama 3", "Llama-3.2-1B"},
    {"<start_of_turn>", 255'000, 256'500, "Gemma 2", "gemma-2-2b"},
    {"<start_of_turn>", 262'000, 263'000, "Gemma 3", "gemma-3-270m"},
    {"<|turn>", 262'000, 263'000, "Gemma 4", "gemma-4-E2B"},
    {"<|start_of_role|>", 49'152, 49'400, "Granite 3", "granite-3.1-2b"},
    {"<|startoftext|>", 64'000, 66'000, "LFM 2", "LFM2-350M"},
    {"<|channel|>", 199'000, 202'000, "gpt-oss", ""},
};

}  // namespace

std::string fitting_drafts(const Vocabulary& vocabulary) {
  for (const Family& family : families) {
    if (vocabulary.size() < family.min_size || vocabulary.size() > family.max_size) continue;
    if (!vocabulary.find(family.token)) continue;
    if (family.drafts.empty())
      return fmt::format("no smaller model with the vocabulary of {} has been published", family.name);
    return fmt::format("models with the vocabulary of {} can draft for it, such as {}", family.name,
                       family.drafts);
  }
  return fmt::format("a smaller model of the same family, with the same {} tokens, can draft for it",
                     vocabulary.size());
}

Result<VocabularyDifferences> same_vocabulary(const Vocabulary& target, const Vocabulary& draft) {
  if (target.type() != draft.type())
    return differ(target, draft, "the type", describe(target.type()), describe(draft.type()), "");
  const auto size = static_cast<Token>(std::max(target.size(), draft.size()));
  VocabularyDifferences differences;
  std::size_t others = 0;  // differing ids that are plain text in one of them
  std::optional<Token> first;
  for (Token token = 0; token < size; ++token) {
    const Match match = compare(target, draft, token);
    if (match == Match::same) continue;
    std::optional<Token>& lowest = match == Match::special ? differences.first : first;
    if (!lowest) lowest = token;
    ++(match == Match::special ? differences.special : others);
  }
  if (others == 0 && differences.special <= max_special_differences) return differences;
  const Token shown_one = others > 0 ? *first : *differences.first;
  const std::size_t all = others + differences.special;
  return differ(target, draft, fmt::format("token {}", shown_one), shown(target, shown_one),
                shown(draft, shown_one), all > 1 ? fmt::format(", and {} more differ", all - 1) : "");
}

}  // namespace spectr
