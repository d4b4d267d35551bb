#include "apps/bench/methods/generation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spectr/base/counter_random.h"
#include "spectr/decode/generate.h"
#include "spectr/nn/drafters/drafter_session.h"

namespace spectr::bench {
namespace {

/// Starts sessions for a sequence of up to `context` tokens.
Result<OwnedModels> start_models(const Setup& setup, const Cell& cell, std::size_t nodes,
                                 std::size_t context) {
  std::vector<const LanguageModel*> drafts;
  if (const Transformer* draft = draft_of(setup, cell)) drafts.push_back(draft);
  SPECTR_TRY(OwnedModels models, OwnedModels::start(*setup.models.target, drafts, cell.warp, context, nodes));
  if (const TrainedDrafter* trained = trained_of(setup, cell)) {
    SPECTR_TRY(auto session, trained->follow(models.target, {.nodes = nodes}));
    models.add_draft(std::move(session));
  }
  return models;
}

/// Shortens a prompt to its last `room` tokens. An initial BOS is kept.
void cut(std::vector<Token>& prompt, std::size_t room, std::optional<Token> bos) {
  const bool keeps_bos = prompt.front() == bos && room > 1;
  prompt.erase(prompt.begin() + (keeps_bos ? 1 : 0),
               prompt.end() - static_cast<std::ptrdiff_t>(keeps_bos ? room - 1 : room));
}

}  // namespace

Result<std::vector<TokenPrompt>> tokenize(const Setup& setup, std::span<const Prompt> prompts) {
  const std::size_t context = setup.models.target->context();
  if (setup.predict + 1 > context) {
    return error("-n {}: the context of {} has {} tokens", setup.predict, setup.models.target->file().name(),
                 context);
  }
  const std::size_t room = context - setup.predict;
  std::vector<TokenPrompt> all;
  for (const Prompt& prompt : prompts) {
    TokenPrompt tokens{prompt, {}, 0, false};
    if (setup.chat) {
      SPECTR_TRY(std::vector<Token> opening, setup.chat(std::span(prompt.turns).first(1)));
      tokens.turns.push_back(std::move(opening));
    }
    for (std::size_t i = 0; !setup.chat && i < prompt.turns.size(); ++i) {
      const std::string& turn = prompt.turns[i];
      tokens.turns.push_back(
          setup.models.tokenizer->encode(i == 0 ? turn : "\n" + turn + "\n", {.add_bos = i == 0}));
    }
    std::vector<Token>& opening = tokens.turns.front();
    if (opening.empty()) return error("the prompt '{}' has no tokens", prompt.turns.front());
    tokens.tokens = opening.size();
    tokens.cut = opening.size() > room;
    if (tokens.cut) cut(opening, room, setup.models.tokenizer->vocabulary().bos());
    all.push_back(std::move(tokens));
  }
  return all;
}

Result<Answers> answer(const Setup& setup, const Cell& cell, const TokenPrompt& prompt, std::size_t n) {
  const Tokenizer& tokenizer = *setup.models.tokenizer;
  const std::size_t context = setup.models.target->context();
  Answers answers;
  std::vector<Token> text;
  std::vector<std::string> said;  // turns of the conversation so far
  const std::vector<std::string>& asked = prompt.prompt.turns;
  for (std::size_t turn = 0; turn < asked.size(); ++turn) {
    if (turn > 0 && setup.chat) {
      said.push_back(asked[turn]);
      SPECTR_TRY(text, setup.chat(said));
    } else {
      text.insert(text.end(), prompt.turns[turn].begin(), prompt.turns[turn].end());
      if (setup.chat) said.push_back(asked[turn]);
    }
    const std::size_t whole = text.size() + setup.predict;
    if (whole > context) break;
    MethodOptions method_options = cell.options;
    if (cell.method->reads(Setting::suffix_reach)) method_options.corpus = setup.models.corpus;
    SPECTR_TRY(Decoder decoder, make_decoder(*cell.method, method_options));
    SPECTR_TRY(OwnedModels models, start_models(setup, cell, decoder.max_nodes(whole), whole));
    GenerateOptions options{.limit = setup.predict};
    if (!setup.ignore_eos) options.ends = tokenizer.vocabulary().ends();
    CounterRandom choices(setup.seed, n * 1024 + turn);
    SPECTR_TRY(const Generation generation, generate(decoder, models, text, options, choices));
    answers.texts.push_back(tokenizer.decode(generation.tokens));
    answers.statistics.add(generation.statistics);
    answers.shape = larger(answers.shape, decoder.shape());
    const bool ended = generation.stop == StopReason::eos;
    text.insert(text.end(), generation.tokens.begin(), generation.tokens.end() - (ended ? 1 : 0));
    if (setup.chat)
      said.push_back(tokenizer.decode(std::span(text).last(generation.tokens.size() - (ended ? 1 : 0))));
  }
  return answers;
}

}  // namespace spectr::bench
