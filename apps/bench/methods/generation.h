#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/methods/cells.h"
#include "apps/bench/prompts.h"
#include "spectr/decode/statistics.h"
#include "spectr/engine/engine_models.h"

namespace spectr::bench {

/// The tokens of a conversation, by the model's chat template: what the user and the model have said in
/// turns, the user first and last. Error: the template refuses it.
using ChatRenderer = std::function<Result<std::vector<Token>>(std::span<const std::string> said)>;

/// What texts are generated with.
struct Setup {
  const EngineModels& models;
  std::size_t predict = 128;  ///< max tokens of an answer
  std::uint64_t seed = 0;
  bool ignore_eos = false;
  ChatRenderer chat = {};  ///< of the turns; none: they are texts that the model continues
};

/// The draft model that a cell works with; null: none.
inline const Transformer* draft_of(const Setup& setup, const Cell& cell) {
  const auto& drafts = setup.models.drafts;
  return cell.method->models.max == 0 || drafts.empty() ? nullptr : drafts[cell.draft].get();
}

/// The larger K and the larger L.
inline DraftShape larger(const DraftShape& a, const DraftShape& b) {
  return {std::max(a.drafts, b.drafts), std::max(a.length, b.length)};
}

/// A prompt in the target's tokens.
struct TokenPrompt {
  Prompt prompt;                          ///< as it was read
  std::vector<std::vector<Token>> turns;  ///< of a conversation the first alone
  std::size_t tokens;                     ///< of its first turn, all of them
  bool cut;                               ///< they did not fit the context: a BOS and the last ones remain
};

/// Error: the context has no room for `predict` tokens and a prompt.
Result<std::vector<TokenPrompt>> tokenize(const Setup& setup, std::span<const Prompt> prompts);

/// The answers to all turns of a prompt.
struct Answers {
  std::vector<std::string> texts;  ///< of all turns that the context had room for
  Statistics statistics;           ///< of these
  DraftShape shape = {};           ///< the largest K and L that were drafted
};

/// Every turn is answered behind the turns and answers before it; the n-th prompt has choices of its own.
Result<Answers> answer(const Setup& setup, const Cell& cell, const TokenPrompt& prompt, std::size_t n);

}  // namespace spectr::bench
