#include "spectr/transport/plans/recursive_without_replacement.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/drafting.h"
#include "spectr/transport/math/distribution_pair.h"
#include "spectr/transport/math/draw_by_mass.h"
#include "spectr/transport/math/rejected_without_replacement.h"

namespace spectr {
namespace {

class RecursiveWithoutReplacement final : public TransportPlan {
 public:
  RecursiveWithoutReplacement(const Distribution& p, const Distribution& q, std::size_t k)
      : p_(p), q_(q), distributions_(p, q) {
    const auto support = std::ranges::count_if(distributions_.p(), [](double mass) { return mass > 0.0; });
    drafts_ = std::min(k, static_cast<std::size_t>(support));
  }

  std::size_t drafts() const override { return drafts_; }

  void draw(std::span<Token> out, Choices& choices) const override {
    SPECTR_CHECK(out.size() == drafts_);
    std::ranges::copy(draw_without_replacement(p_, drafts_, choices), out.begin());
  }

  Selection select(std::span<const Token> drafts, Choices& choices) const override {
    SPECTR_CHECK(drafts.size() == drafts_);
    State at;
    for (std::size_t m = 0; m < drafts.size(); ++m) {
      if (choices.accept(test(at, drafts[m]))) return {drafts[m], true};
      at = after_rejection(at, drafts.first(m + 1));
    }
    if (!(at.left > 0.0)) return {q_.draw(choices), false};
    const auto mass = [&](std::size_t begin, std::size_t end) { return left_mass(at, begin, end); };
    return {distributions_.token(draw_by_mass(choices, distributions_.size(), mass)), false};
  }

  double acceptance() const override {
    const auto rejected = rejected_without_replacement(distributions_, drafts_);
    return rejected ? 1.0 - std::min(1.0, *rejected) : std::numeric_limits<double>::quiet_NaN();
  }

  std::optional<Distribution> residual() const override { return std::nullopt; }

  Distribution conditional(std::span<const Token> drafts) const override {
    SPECTR_CHECK(drafts.size() == drafts_);
    RecycledVector<double> distribution(distributions_.vocabulary(), 0.0);
    State at;
    double reached = 1.0;
    for (std::size_t m = 0; m < drafts.size() && reached > 0.0; ++m) {
      const double t = test(at, drafts[m]);
      distribution[static_cast<std::size_t>(drafts[m])] += reached * t;
      reached *= 1.0 - t;
      at = after_rejection(at, drafts.first(m + 1));
    }
    for (std::size_t j = 0; j < distributions_.size(); ++j) {
      const double last = at.left > 0.0 ? left_mass(at, j, j + 1) / at.left : distributions_.q()[j];
      distribution[static_cast<std::size_t>(distributions_.token(j))] += reached * last;
    }
    return Distribution::from_weights(std::move(distribution));
  }

 private:
  // The lemma's quantities before draft m.
  struct State {
    double used = 0.0;     // c_{m−1}
    double tested = 1.0;   // P_{m−1}
    double left = 1.0;     // D_{m−1}
    double untried = 1.0;  // P_m
  };

  // Returns min(1, q^m(x)/p_m(x)), q^m = (q − C p)₊/D, p_m = p/P. Products could underflow.
  double test(const State& at, Token x) const {
    const auto j = distributions_.find(x);
    if (!j || !(distributions_.p()[*j] > 0.0) || !(at.left > 0.0)) return 0.0;
    return std::min(1.0, left_mass(at, *j, *j + 1) / at.left / (distributions_.p()[*j] / at.untried));
  }

  State after_rejection(const State& at, std::span<const Token> tried) const {
    State next{.used = at.used * (at.untried / at.tested) + at.left, .tested = at.untried};
    next.left = left_mass(next, 0, distributions_.size());
    next.untried = tried.size() < drafts_ ? untried_mass(tried) : 0.0;
    return next;
  }

  // Returns Σ (q − C p)₊ over the tokens at [begin, end).
  double left_mass(const State& at, std::size_t begin, std::size_t end) const {
    return sum_in_blocks(begin, end, [&](std::size_t j) {
      const double p = distributions_.p()[j], q = distributions_.q()[j];
      return p > 0.0 ? std::max(0.0, q - at.used * (p / at.tested)) : q;
    });
  }

  // Returns Σ p over the untried tokens, summed between the tried ones, without subtraction.
  double untried_mass(std::span<const Token> tried) const {
    Sum sum;
    for (std::size_t begin = 0; begin < distributions_.size();) {
      std::size_t stop = distributions_.size();
      for (Token x : tried) {
        const auto j = distributions_.find(x);
        if (j && *j >= begin && *j < stop) stop = *j;
      }
      sum.add(sum_in_blocks(begin, stop, [&](std::size_t j) { return distributions_.p()[j]; }));
      begin = stop + 1;
    }
    return sum.value();
  }

  const Distribution& p_;
  const Distribution& q_;
  DistributionPair distributions_;
  std::size_t drafts_;
};

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_recursive_wor(const DraftDistributions& p, const Distribution& q,
                                                           const PlanOptions&) {
  if (!p.equal()) return error("recursive-wor: all {} drafts must come from one law", p.count());
  return std::make_unique<RecursiveWithoutReplacement>(p[0], q, p.count());
}

}  // namespace spectr
