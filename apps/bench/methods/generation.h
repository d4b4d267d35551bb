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

/// Renders a conversation to tokens with the model's chat template. `said` alternates between the user and
/// the model; the user is first and last. Fails if the template rejects it.
using ChatRenderer = std::function<Result<std::vector<Token>>(std::span<const std::string> said)>;

/// The models and settings for generating completions.
struct Setup {
  const EngineModels& models;
  std::size_t predict = 128;  ///< maximum number of tokens of an answer
  std::uint64_t seed = 0;
  bool ignore_eos = false;
  ChatRenderer chat = {};  ///< renders turns; empty: the model continues them as plain text
};

/// Returns the draft model of a cell, or null if it uses none.
inline const Transformer* draft_of(const Setup& setup, const Cell& cell) {
  const auto& drafts = setup.models.drafts;
  return cell.method->models.max == 0 || cell.draft >= drafts.size() ? nullptr : drafts[cell.draft].get();
}

/// Returns the trained drafter of a cell, or null if it uses none.
inline const TrainedDrafter* trained_of(const Setup& setup, const Cell& cell) {
  const bool uses = cell.method->models.max > 0 && cell.draft == setup.models.drafts.size();
  return uses ? setup.models.trained.get() : nullptr;
}

/// Returns the file of a cell's draft model or trained drafter, or null if it uses neither.
inline const Gguf* draft_file_of(const Setup& setup, const Cell& cell) {
  if (const TrainedDrafter* trained = trained_of(setup, cell)) return &trained->file();
  const Transformer* draft = draft_of(setup, cell);
  return draft == nullptr ? nullptr : &draft->file();
}

/// Returns the elementwise maximum of K and L.
inline DraftShape larger(const DraftShape& a, const DraftShape& b) {
  return {std::max(a.drafts, b.drafts), std::max(a.length, b.length)};
}

/// A prompt tokenized for the target.
struct TokenPrompt {
  Prompt prompt;                          ///< the prompt as read
  std::vector<std::vector<Token>> turns;  ///< if turns are rendered as a chat, only the first
  std::size_t tokens;                     ///< number of tokens of the first turn before it was cut
  bool cut;                               ///< the first turn was cut to a BOS and its last tokens
};

/// Tokenizes prompts. Fails if the context has no room for a prompt and `predict` tokens.
Result<std::vector<TokenPrompt>> tokenize(const Setup& setup, std::span<const Prompt> prompts);

/// Answers to the turns of a prompt.
struct Answers {
  std::vector<std::string> texts;  ///< one per turn that the context had room for
  Statistics statistics;           ///< over these answers
  DraftShape shape = {};           ///< largest K and L that were drafted
};

/// Answers each turn after all previous turns and answers. The random choices depend on seed, n and turn.
Result<Answers> answer(const Setup& setup, const Cell& cell, const TokenPrompt& prompt, std::size_t n);

}  // namespace spectr::bench
