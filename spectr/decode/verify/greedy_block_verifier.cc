#include "spectr/decode/verify/greedy_block_verifier.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/decode/verify/block_verifier.h"
#include "spectr/transport/math/distribution_pair.h"
#include "spectr/transport/math/powers.h"
#include "spectr/transport/math/ratio_order.h"

namespace spectr {
namespace {

/// The row p′(· | u) of a node u, and the order of its tokens.
class GreedyRow {
 public:
  /// `smaller` is C/(C + p(u)) of the path to u.
  GreedyRow(const Distribution& p, const Distribution& q, std::size_t sequences, double smaller)
      : pair_(p, q), sequences_(sequences), smaller_(smaller), below_(pair_.size(), 0.0) {
    order_ = ratio_order(pair_.p(), pair_.q());
    Sum p_below;
    for (const std::uint32_t i : order_) {
      below_[i] = p_below.value();
      p_below.add(pair_.p()[i]);
    }
  }

  /// Returns true if token x comes after y in the order. Requires: both are drawn from p.
  bool is_larger(Token x, Token y) const {
    const auto ratio = [this](Token token) { return pair_.q()[place(token)] / pair_.p()[place(token)]; };
    return std::pair(ratio(x), x) > std::pair(ratio(y), y);
  }

  /// Returns p′(· | u). In units of C + p(u), ux begins at C′ and is (1 − `smaller`) p(x|u) wide, so
  /// p′(ux)/p′(u) = p(x|u) · e(C′, width) / e(smaller, 1 − smaller), e(a, w) = ((a + w)^K − a^K)/w.
  Distribution distribution() const {
    const double whole = power_quotient(smaller_, 1.0 - smaller_, sequences_);
    RecycledVector<double> weights(pair_.size(), 0.0);
    for (const std::uint32_t i : order_) {
      const double p = pair_.p()[i];
      weights[i] = p * (power_quotient(begin(i), (1.0 - smaller_) * p, sequences_) / whole);
    }
    return pair_.distribution(std::move(weights));
  }

  /// Returns C/(C + p) of the path to ux.
  double smaller_after(Token x) const {
    const double C = begin(place(x));
    return C / (C + (1.0 - smaller_) * pair_.p()[place(x)]);
  }

 private:
  std::size_t place(Token token) const { return *pair_.find(token); }
  double begin(std::size_t i) const { return smaller_ + (1.0 - smaller_) * below_[i]; }

  DistributionPair pair_;
  std::size_t sequences_;
  double smaller_;
  RecycledVector<double> below_;  // by index in pair_: p of all tokens that precede it
  RecycledVector<std::uint32_t> order_;
};

}  // namespace

Result<Verdict> GreedyBlockVerifier::select(const BlockStart& start, const Draft& draft,
                                            NodeDistributions& target, Choices& choices) const {
  RecycledVector<NodeId> nodes;
  RecycledVector<std::unique_ptr<Distribution>> rows;
  RecycledVector<std::optional<std::size_t>> copies = {std::nullopt};  // copies of the largest prefix
  std::size_t sequences = 0;                                           // K
  double smaller = 0.0;
  for (;;) {
    const RecycledVector<std::size_t> draws = draft.below(copies);
    if (draws.empty()) break;
    if (nodes.empty()) sequences = draws.size();
    SPECTR_TRY(const Distribution* q, target.at(draft.node_of(copies.front())));
    const GreedyRow row(*draft.draw(draws.front()).distribution, *q, sequences, smaller);

    Token largest = draft.token(draws.front());
    for (const std::size_t draw : draws) {
      if (row.is_larger(draft.token(draw), largest)) largest = draft.token(draw);
    }
    copies.clear();
    for (const std::size_t draw : draws) {
      if (draft.token(draw) == largest) copies.emplace_back(draw);
    }
    rows.push_back(std::make_unique<Distribution>(row.distribution()));
    nodes.push_back(draft.node_of(copies.front()));
    smaller = row.smaller_after(largest);
  }
  RecycledVector<const Distribution*> p;
  for (const auto& row : rows) p.push_back(row.get());
  return verify_block(start, draft, nodes, p, target, choices);
}

}  // namespace spectr
