#pragma once

#include <span>

#include "spectr/base/result.h"
#include "spectr/base/token.h"

namespace spectr {

/// A rule that modifies a row of logits before filtering, as a function of the sequence that the row
/// continues: a grammar that forbids tokens, or a budget that forces them.
///
/// Theorem. Every lossless method stays lossless with a rule: the output has the distribution of the target
/// with that rule. *Why:* a rule depends on the sequence alone, so the target with the rule is an ordinary
/// target. The rule is also applied to draft rows. No method requires this, but without it drafts would be
/// rejected because they have tokens that the rule forbids.
///
/// Implementations may cache results for one sequence to speed up similar ones. They are thread-safe, because
/// rows of a target and of its drafts can be requested concurrently.
class LogitRule {
 public:
  virtual ~LogitRule() = default;

  /// Modifies `logits`, those of the tokens 0, 1, … that may follow `sequence`; −∞ forbids a token. Does
  /// nothing if the rule excludes `sequence` itself, which then has probability 0.
  virtual Result<void> apply(std::span<const Token> sequence, std::span<double> logits) const = 0;
};

}  // namespace spectr
