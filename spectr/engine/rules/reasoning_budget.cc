#include "spectr/engine/rules/reasoning_budget.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace spectr {

Result<std::shared_ptr<const LogitRule>> ReasoningBudget::make(const Tokenizer& tokenizer, std::size_t prompt,
                                                               const LimitedReasoning& reasoning) {
  if (reasoning.split.form->close.empty())
    return error(ErrorCode::unsupported, "this model's reasoning has no closing mark, so no budget ends it");
  return std::shared_ptr<const LogitRule>(new ReasoningBudget(tokenizer, prompt, reasoning));
}

ReasoningBudget::ReasoningBudget(const Tokenizer& tokenizer, std::size_t prompt,
                                 const LimitedReasoning& reasoning)
    : tokenizer_(tokenizer),
      prompt_(prompt),
      budget_(reasoning.limit.tokens),
      open_(reasoning.split.form->open),
      close_(reasoning.split.form->close),
      ending_(tokenizer.encode(reasoning.limit.message + close_, {.add_bos = false, .parse_special = true})) {
  State begun;
  begun.pending = reasoning.split.begun;
  read(begun);
  states_.push_back(std::move(begun));
}

void ReasoningBudget::read(State& state) const {
  for (;;) {
    if (state.phase == Phase::reasoning) {
      const std::size_t end = state.pending.find(close_);
      if (end == std::string::npos) {
        const std::size_t certain = state.pending.size() - std::min(state.pending.size(), close_.size() - 1);
        state.pending.erase(0, certain);
        return;
      }
      state.pending.erase(0, end + close_.size());
      state.phase = Phase::before;
    }
    if (state.phase == Phase::content) return;
    const std::size_t space = std::min(state.pending.find_first_not_of(" \t\n\v\f\r"), state.pending.size());
    const std::string_view rest = std::string_view(state.pending).substr(space);
    if (!rest.starts_with(open_)) {
      if (!open_.starts_with(rest)) state = {.phase = Phase::content, .spent = state.spent, .pending = {}};
      return;
    }
    state.pending.erase(0, space + open_.size());
    state.phase = Phase::reasoning;
    state.forced = 0;
  }
}

ReasoningBudget::State ReasoningBudget::after(State state, Token token) const {
  if (state.phase == Phase::content) return state;
  if (state.phase == Phase::reasoning) ++(state.spent < budget_ ? state.spent : state.forced);
  state.pending += tokenizer_.piece(token);
  read(state);
  return state;
}

Result<void> ReasoningBudget::apply(std::span<const Token> sequence, std::span<double> logits) const {
  if (sequence.size() < prompt_) return {};
  const auto answer = sequence.subspan(prompt_);
  const std::lock_guard lock(mutex_);
  const auto differs = std::ranges::mismatch(known_, answer).in1;
  known_.erase(differs, known_.end());
  states_.resize(known_.size() + 1);
  for (const Token token : answer.subspan(known_.size())) {
    states_.push_back(after(states_.back(), token));
    known_.push_back(token);
  }
  const State& state = states_.back();
  if (state.phase != Phase::reasoning || state.spent < budget_ || state.forced >= ending_.size()) return {};
  // An earlier mask has already excluded the tokens other than those of the ending.
  const auto forced = std::span(ending_).first(state.forced);
  if (!std::ranges::equal(answer.last(state.forced), forced)) return {};
  const auto next = static_cast<std::size_t>(ending_[state.forced]);
  for (std::size_t token = 0; token < logits.size(); ++token) {
    if (token != next) logits[token] = -std::numeric_limits<double>::infinity();
  }
  if (next < logits.size() && !(logits[next] > -std::numeric_limits<double>::infinity())) logits[next] = 0.0;
  return {};
}

}  // namespace spectr
