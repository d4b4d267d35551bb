#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/engine/request.h"
#include "spectr/sampling/logit_rule.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// Ends the reasoning of an answer once it has used up a budget of tokens: from then on, only the tokens of a
/// message and of the closing mark are allowed, in order.
///
/// Reasoning begins if the prompt has opened it or the answer begins with the opening mark, and ends with the
/// closing mark, however the model tokenizes them. All reasoning of an answer shares the budget. Cost: O(1)
/// for each token since the last sequence asked for, plus O(V).
class ReasoningBudget final : public LogitRule {
 public:
  /// `prompt`: tokens of the prompt. The tokenizer must outlive the rule. Fails if the form has no closing
  /// mark (harmony).
  static Result<std::shared_ptr<const LogitRule>> make(const Tokenizer& tokenizer, std::size_t prompt,
                                                       const LimitedReasoning& reasoning);

  Result<void> apply(std::span<const Token> sequence, std::span<double> logits) const override;

 private:
  enum class Phase { before, reasoning, content };

  /// The state after the tokens of an answer up to some position.
  struct State {
    Phase phase = Phase::before;
    std::size_t spent = 0;   ///< reasoning tokens within the budget
    std::size_t forced = 0;  ///< reasoning tokens beyond it, since the last opening mark
    std::string pending;     ///< text that may be the beginning of a mark
  };

  ReasoningBudget(const Tokenizer& tokenizer, std::size_t prompt, const LimitedReasoning& reasoning);
  State after(State state, Token token) const;
  /// Processes the pending text as far as it is certain.
  void read(State& state) const;

  const Tokenizer& tokenizer_;
  std::size_t prompt_;  // tokens
  std::size_t budget_;  // tokens
  std::string open_, close_;
  std::vector<Token> ending_;  // the message and the closing mark
  // Cached results for the last sequence: states_[i] is the state after the first i tokens of known_.
  mutable std::mutex mutex_;
  mutable std::vector<Token> known_;
  mutable std::vector<State> states_;
};

}  // namespace spectr
