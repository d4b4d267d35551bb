#include "spectr/decode/verify/rule_walk.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

/// The rejection R and the bias ½ Σ |b p + R P − q|.
struct Outcome {
  double rejection = 0.0, bias = 0.0;
};

Outcome outcome_of(const RejectionRule& rule, const Distribution& p, const Distribution& q) {
  Outcome outcome;
  double total = 0.0;
  for (std::size_t x = 0; x < rule.accept.size(); ++x) {
    outcome.rejection += (1.0 - rule.accept[x]) * p[static_cast<Token>(x)];
    total += rule.correction[x];
  }
  for (std::size_t x = 0; x < rule.accept.size(); ++x) {
    const auto token = static_cast<Token>(x);
    const double corrected = total > 0.0 ? outcome.rejection * rule.correction[x] / total : 0.0;
    outcome.bias += 0.5 * std::abs(rule.accept[x] * p[token] + corrected - q[token]);
  }
  return outcome;
}

}  // namespace

Result<Verdict> RuleWalk::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                 Choices& choices) const {
  Verdict verdict;
  RecycledVector<Token> context(start.sequence.begin(), start.sequence.end());
  NodeId node = TokenTree::root;
  for (std::size_t i = 0; i < draft.draws().size(); ++i) {
    const RejectionRule& rule = rules_(context);
    const Token x = draft.token(i);
    SPECTR_TRY(const Distribution* q, target.at(node));
    SPECTR_CHECK(rule.accept.size() == q->vocabulary() && rule.correction.size() == q->vocabulary());
    const Outcome outcome = outcome_of(rule, *draft.draw(i).distribution, *q);
    verdict.biases.push_back(outcome.bias);
    verdict.rejections.push_back(outcome.rejection);
    choices.enter(start.place(node, verdict.path.size(), Purpose::select));
    const double passes = rule.accept[static_cast<std::size_t>(x)];
    if (!choices.accept(passes)) {
      verdict.last = static_cast<Token>(choices.draw(rule.correction));
      verdict.last_source = Source::correction;
      return verdict;
    }
    node = draft.draw(i).node;
    verdict.path.push_back(node);
    context.push_back(x);
  }
  SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
  return verdict;
}

}  // namespace spectr
