#include "spectr/decode/verify/verifiers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "spectr/base/recycled.h"

namespace spectr {

Result<Verdict> AcceptSettled::select(const BlockStart&, const Draft& draft, NodeDistributions&,
                                      Choices&) const {
  Verdict verdict;
  for (std::size_t draw : draft.settled()) verdict.path.push_back(draft.draw(draw).node);
  verdict.path_source = Source::target;
  verdict.biases_known = false;
  return verdict;
}

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

/// The prefix that ends in a draw.
struct Prefix {
  std::size_t length = 0;
  double ratio = 0.0;  // log Π q/p: the product itself would underflow
};

/// Returns ln q of a token; −∞ if the target excludes it.
Result<double> log_likelihood(JointLaw law, NodeDistributions& target, NodeId above, Token token) {
  if (law == JointLaw::raw) return target.log_likelihood(above, token);
  SPECTR_TRY(const Distribution* q, target.at(above));
  return std::log((*q)[token]);
}

}  // namespace

Result<Verdict> JointThreshold::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                       Choices& choices) const {
  const double threshold = std::log(tau_);  // −∞ for τ = 0
  RecycledVector<Prefix> prefixes;
  std::optional<std::size_t> last;  // the last draw of the accepted prefix
  std::size_t accepted = 0;
  for (const Draw& draw : draft.draws()) {
    const Prefix before = draw.parent ? prefixes[*draw.parent] : Prefix{};
    const NodeId above = draft.node_of(draw.parent);
    const Token x = draft.tree().token(draw.node);
    double ratio = never;
    if (before.ratio != never) {
      SPECTR_TRY(const double log_q, log_likelihood(law_, target, above, x));
      if (log_q != never) ratio = before.ratio + (log_q - draw.log_likelihood);
    }
    prefixes.push_back({before.length + 1, ratio});
    if (std::min(ratio, 0.0) > threshold && prefixes.back().length > accepted) {
      accepted = prefixes.back().length;
      last = prefixes.size() - 1;
    }
  }

  Verdict verdict;
  for (auto draw = last; draw; draw = draft.draw(*draw).parent)
    verdict.path.push_back(draft.draw(*draw).node);
  std::ranges::reverse(verdict.path);
  SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
  const std::optional<std::size_t> end[] = {last};
  if (verdict.last && !draft.below(end).empty()) verdict.last_source = Source::correction;
  verdict.biases_known = false;
  return verdict;
}

Result<Verdict> Rollback::select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                 Choices& choices) const {
  Verdict verdict;
  NodeId node = TokenTree::root;
  bool rolled_back = false;
  for (std::size_t i = 0; i < draft.draws().size(); ++i) {
    SPECTR_TRY(const Distribution* q, target.at(node));
    if (-std::log((*q)[draft.token(i)]) > rollback_) {
      rolled_back = true;
      break;
    }
    verdict.path.push_back(node = draft.draw(i).node);
  }
  SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
  if (rolled_back) verdict.last_source = Source::correction;
  verdict.biases_known = false;
  return verdict;
}

}  // namespace spectr
