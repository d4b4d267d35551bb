#include "spectr/transport/partial_plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/transport/math/distribution_pair.h"
#include "spectr/transport/math/powers.h"
#include "spectr/transport/math/ratio_order.h"

namespace spectr {
namespace {

/// The residual masses res and the mass 1 − w of a rejection. q must outlive it.
class PartialResidual {
 public:
  /// `res` is indexed like `pair`.
  PartialResidual(const DistributionPair& pair, RecycledVector<double> res, double w, const Distribution& q)
      : mass_(sum_of(res)), w_(w), q_(q) {
    if (mass_ > 0.0) distribution_ = pair.distribution(std::move(res));
  }

  std::optional<Token> draw(Choices& choices) const {
    const double all = mass_ + (1.0 - w_);
    if (all > 0.0 && !choices.accept(mass_ / all)) return std::nullopt;
    return (distribution_ ? *distribution_ : q_).draw(choices);
  }

 private:
  double mass_, w_;  // R, w
  const Distribution& q_;
  std::optional<Distribution> distribution_;  // ∝ res
};

class PartialCoupling final : public PartialPlan {
 public:
  PartialCoupling(const Distribution& p, double w, const Distribution& q) : p_(p), w_(w), q_(q) {}

  RecycledVector<double> accepted(std::span<const Token> draws) const override {
    SPECTR_CHECK(draws.size() == 1);
    return {std::min(1.0, w_ * q_[draws[0]] / p_[draws[0]])};
  }

  std::optional<Token> draw_rejected(Choices& choices) const override {
    const DistributionPair pair(p_, q_);
    RecycledVector<double> res(pair.size());
    for (std::size_t i = 0; i < res.size(); ++i) res[i] = std::max(0.0, w_ * pair.q()[i] - pair.p()[i]);
    return PartialResidual(pair, std::move(res), w_, q_).draw(choices);
  }

 private:
  const Distribution& p_;
  double w_;
  const Distribution& q_;
};

class PartialLikeliest final : public PartialPlan {
 public:
  PartialLikeliest(std::span<const Token> draws, const Distribution& p, double w, const Distribution& q)
      : draws_(draws.begin(), draws.end()), w_(w), q_(q), pair_(p, q), res_(pair_.size()) {
    // T consists of all draws if p reaches no other tokens, otherwise of all draws but the last.
    const auto reached = std::ranges::count_if(pair_.p(), [](double p_x) { return p_x > 0.0; });
    is_whole_ = static_cast<std::size_t>(reached) == draws_.size();
    in_T_ = draws_.size() - (is_whole_ ? 0 : 1);

    for (std::size_t t = 0; t < in_T_; ++t) q_T_ += q[draws_[t]];
    const double rest = is_whole_ ? 0.0 : sum_of_others();
    for (std::size_t i = 0; i < res_.size(); ++i) {
      const double s = rest > 0.0 ? pair_.p()[i] / rest : 0.0;
      res_[i] = is_likeliest(pair_.token(i)) ? 0.0 : std::max(0.0, w_ * pair_.q()[i] - s);
    }
    if (!is_whole_) s_m_ = p[draws_.back()] / rest;
  }

  RecycledVector<double> accepted(std::span<const Token> draws) const override {
    SPECTR_CHECK(std::ranges::equal(draws, draws_));
    const double A_m = is_whole_ ? 0.0 : std::min(1.0, w_ * q_[draws_.back()] / s_m_);
    const double Z = 1.0 - w_ + sum_of(res_) + w_ * q_T_;
    RecycledVector<double> A;
    for (std::size_t t = 0; t < in_T_; ++t) {
      const double q_t = w_ * q_[draws_[t]];
      A.push_back(is_whole_ ? q_t : q_t * (1.0 - A_m) / Z);
    }
    if (!is_whole_) A.push_back(A_m);
    return A;
  }

  std::optional<Token> draw_rejected(Choices& choices) const override {
    return PartialResidual(pair_, res_, w_, q_).draw(choices);
  }

 private:
  bool is_likeliest(Token token) const {
    const auto T = std::span(draws_).first(in_T_);
    return std::ranges::find(T, token) != T.end();
  }
  /// Returns Σ p outside T, without the cancellation of 1 − p(T).
  double sum_of_others() const {
    return sum_in_blocks(0, pair_.size(),
                         [&](std::size_t i) { return is_likeliest(pair_.token(i)) ? 0.0 : pair_.p()[i]; });
  }

  RecycledVector<Token> draws_;  // T in descending order of p, then m
  double w_;
  const Distribution& q_;
  DistributionPair pair_;
  RecycledVector<double> res_;
  std::size_t in_T_ = 0;
  bool is_whole_ = false;  // there is no m
  double q_T_ = 0.0, s_m_ = 1.0;
};

}  // namespace

PartialAcceptance::PartialAcceptance(const Distribution& p, std::size_t k, const Distribution& q) {
  const DistributionPair pair(p, q);
  Sum P, Q;
  // A token with p = 0 has q/p = ∞ and does not lower the minimum.
  for (const std::uint32_t i : ratio_order(pair.p(), pair.q())) {
    P.add(pair.p()[i]);
    Q.add(pair.q()[i]);
    P_k_.push_back(power(std::min(1.0, P.value()), k));
    Q_.push_back(Q.value());
  }
}

double PartialAcceptance::operator()(double w) const {
  double lowest = 0.0;
  for (std::size_t j = 0; j < Q_.size(); ++j) lowest = std::min(lowest, w * Q_[j] - P_k_[j]);
  return 1.0 + lowest;
}

std::unique_ptr<PartialPlan> build_partial_coupling(const Distribution& p, double w, const Distribution& q) {
  return std::make_unique<PartialCoupling>(p, w, q);
}

std::unique_ptr<PartialPlan> build_partial_likeliest(std::span<const Token> draws, const Distribution& p,
                                                     double w, const Distribution& q) {
  return std::make_unique<PartialLikeliest>(draws, p, w, q);
}

}  // namespace spectr
