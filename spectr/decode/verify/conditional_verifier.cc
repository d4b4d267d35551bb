#include "spectr/decode/verify/conditional_verifier.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/decode/block.h"
#include "spectr/transport/plans/tickets.h"

namespace spectr {
namespace {

/// The draws at a node that have the same token.
using Copies = RecycledVector<std::optional<std::size_t>>;

/// A token y drawn at a node, with all of its copies.
struct Child {
  Token token;
  Copies copies = {};
  double accepted = 0.0;  // A_y
};

class Verification {
 public:
  Verification(ConditionalVerifier::MakePlan make_plan, ChildOrder order, const BlockStart& start,
               const Draft& draft, NodeDistributions& target, Choices& choices)
      : make_plan_(make_plan),
        order_(order),
        start_(start),
        draft_(draft),
        target_(target),
        choices_(choices) {}

  /// Runs verify(u, w), where u is the end of the path so far. If u is rejected, returns false and restores
  /// the path.
  Result<bool> verify(const Copies& u, double w) {
    const RecycledVector<std::size_t> draws = draft_.below(u);
    const NodeId node = draft_.node_of(u.front());
    if (draws.empty()) {
      choices_.enter(start_.place(node, verdict_.path.size(), Purpose::select));
      if (!choices_.accept(w)) return false;
      SPECTR_TRY_VOID(draw_bonus(start_, draft_, target_, choices_, verdict_));
      return true;
    }

    SPECTR_TRY(const Distribution* q, target_.at(node));
    RecycledVector<Token> tokens;
    for (const std::size_t draw : draws) tokens.push_back(draft_.token(draw));
    const auto plan = make_plan_(tokens, *draft_.draw(draws.front()).distribution, w, *q);

    RecycledVector<Child> children = this->children(draws, plan->accepted(tokens));
    if (order_ == ChildOrder::look) SPECTR_TRY_VOID(sort_by_promise(children));
    double used = 0.0;
    for (const Child& y : children) {
      const double a = used < 1.0 ? std::min(1.0, y.accepted / (1.0 - used)) : 0.0;
      used += y.accepted;
      if (!(a > 0.0)) continue;
      verdict_.path.push_back(draft_.node_of(y.copies.front()));
      SPECTR_TRY(const bool emits, verify(y.copies, a));
      if (emits) return true;
      verdict_.path.pop_back();
    }
    choices_.enter(start_.place(node, verdict_.path.size(), Purpose::residual));
    verdict_.last = plan->draw_rejected(choices_);
    if (!verdict_.last) return false;
    verdict_.last_source = Source::correction;
    return true;
  }

  Verdict verdict() && { return std::move(verdict_); }

 private:
  /// Returns the different tokens of these draws, in the order of their first copies.
  RecycledVector<Child> children(const RecycledVector<std::size_t>& draws,
                                 const RecycledVector<double>& accepted) const {
    RecycledVector<Child> children;
    for (std::size_t i = 0; i < draws.size(); ++i) {
      const Token token = draft_.token(draws[i]);
      auto child = std::ranges::find(children, token, &Child::token);
      if (child == children.end()) child = children.insert(child, Child{token});
      child->copies.emplace_back(draws[i]);
      child->accepted += accepted[i];
    }
    return children;
  }

  /// Sorts the children for ChildOrder::look.
  Result<void> sort_by_promise(RecycledVector<Child>& children) {
    constexpr std::size_t max_children = 6;
    if (children.size() < 2 || children.size() > max_children) return {};
    RecycledVector<std::optional<PartialAcceptance>>
        alpha;  // of each child; nullopt if nothing was drawn below
    for (const Child& y : children) {
      const RecycledVector<std::size_t> below = draft_.below(y.copies);
      alpha.emplace_back();
      if (below.empty()) continue;
      SPECTR_TRY(const Distribution* q, target_.at(draft_.node_of(y.copies.front())));
      alpha.back().emplace(*draft_.draw(below.front()).distribution, below.size(), *q);
    }

    RecycledVector<std::size_t> order(children.size()), best;
    std::iota(order.begin(), order.end(), std::size_t{0});
    double most = -1.0;
    do {
      double used = 0.0, promise = 0.0;
      for (const std::size_t y : order) {
        const double a = used < 1.0 ? std::min(1.0, children[y].accepted / (1.0 - used)) : 0.0;
        if (alpha[y]) promise += (1.0 - used) * (*alpha[y])(a);
        used += children[y].accepted;
      }
      constexpr double rounding = 1e-12;  // prefers the order drawn
      if (promise > most + rounding) {
        most = promise;
        best = order;
      }
    } while (std::ranges::next_permutation(order).found);
    RecycledVector<Child> sorted;
    for (const std::size_t y : best) sorted.push_back(std::move(children[y]));
    children = std::move(sorted);
    return {};
  }

  ConditionalVerifier::MakePlan make_plan_;
  ChildOrder order_;
  const BlockStart& start_;
  const Draft& draft_;
  NodeDistributions& target_;
  Choices& choices_;
  Verdict verdict_;
};

}  // namespace

std::unique_ptr<PartialPlan> ConditionalVerifier::independent(std::span<const Token> draws,
                                                              const Distribution& p, double w,
                                                              const Distribution& q) {
  if (draws.size() == 1) return build_partial_coupling(p, w, q);
  return build_partial_tickets(p, draws.size(), w, q);
}

std::unique_ptr<PartialPlan> ConditionalVerifier::likeliest(std::span<const Token> draws,
                                                            const Distribution& p, double w,
                                                            const Distribution& q) {
  if (draws.size() == 1) return build_partial_coupling(p, w, q);
  return build_partial_likeliest(draws, p, w, q);
}

Result<Verdict> ConditionalVerifier::select(const BlockStart& start, const Draft& draft,
                                            NodeDistributions& target, Choices& choices) const {
  Verification verification(make_plan_, order_, start, draft, target, choices);
  SPECTR_TRY(const bool emits, verification.verify({std::nullopt}, 1.0));
  SPECTR_CHECK(emits);  // the root has w = 1
  return std::move(verification).verdict();
}

}  // namespace spectr
