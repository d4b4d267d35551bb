#pragma once

#include <span>

#include "spectr/base/result.h"
#include "spectr/base/token.h"

namespace spectr {

/// Changes a row of logits before filters, as a function of the sequence that the row continues: a grammar
/// that forbids tokens, a budget that forces them.
///
/// Theorem. Every lossless method stays lossless with a rule: the output then has the distribution of the
/// target with that rule. *Why:* a rule depends on the sequence alone, so the target with the rule is a
/// target like any other. The drafts' rows go through the same rule, which no method needs, but without which
/// drafts would be rejected for tokens that the rule forbids.
///
/// Implementations may keep what they have computed for one sequence to be quick on a similar one. They are
/// thread-safe: rows of a target and of its drafts may be asked for at the same time.
class LogitRule {
 public:
  virtual ~LogitRule() = default;

  /// Changes `logits`, those of the tokens 0, 1, … that may follow `sequence`; −∞ forbids a token. Does
  /// nothing where the rule itself excludes `sequence`, which has probability 0 then.
  virtual Result<void> apply(std::span<const Token> sequence, std::span<double> logits) const = 0;
};

}  // namespace spectr
