#include "spectr/transport/plans/tickets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/transport/math/draw_by_mass.h"
#include "spectr/transport/math/powers.h"
#include "spectr/transport/math/token_classes.h"
#include "spectr/transport/plans/residual_plan.h"
#include "spectr/transport/plans/ticket_layout.h"

namespace spectr {
namespace {

/// Up to this many tokens each token is its own class: sorting them costs less than finding classes.
constexpr std::size_t few_tokens = 512;

/// Also for more drafts than this each token is its own class, because select() has a fixed-size buffer.
constexpr std::size_t many_drafts = 256;

class Tickets final : public ResidualPlan {
 public:
  Tickets(const DraftDistributions& p, const Distribution& q, DistributionUnion all)
      : ResidualPlan(p, q, std::move(all)) {
    const auto& tokens = this->all();
    if (tokens.size() <= few_tokens || p.count() > many_drafts) {
      layout_ = lay_tickets(tokens.p(0), tokens.q(), p.count());
      return;
    }
    classes_ = classes_of(tokens.p(0), tokens.q(), p.count());
    layout_ = lay_tickets(classes_->p, classes_->q, p.count());
    if (layout_.residual.empty()) return;
    for (std::size_t c = 0; c < classes_->size(); ++c) {
      residual_rate_.push_back(classes_->p[c] > 0.0 ? layout_.residual[c] / classes_->p[c] : 0.0);
    }
  }

  Selection select(std::span<const Token> drafts, Choices& choices) const override;
  double acceptance() const override { return 1.0 - layout_.rejected; }
  Distribution conditional(std::span<const Token> drafts) const override;

  /// The probability that draft i wins, given the drafts (the first of equal ones), and that none wins.
  struct Winners {
    RecycledVector<double> wins;
    double lost = 0.0;
  };
  Winners winners(std::span<const Token> drafts) const;

  using ResidualPlan::rejected;

 private:
  /// Returns the split of a token: class `low` with probability 1 − s, the next class with s.
  TokenClasses::Share classes(Token draft) const;
  std::size_t draw_highest(std::size_t c, std::size_t copies, Choices& choices) const;
  void leftover(std::size_t begin, std::span<double> out) const override;

  std::optional<TokenClasses> classes_;   // nullopt: each token is a class, by index
  TicketLayout layout_;                   // of the classes
  RecycledVector<double> residual_rate_;  // residual per p, for each class
};

TokenClasses::Share Tickets::classes(Token draft) const {
  const std::optional<std::size_t> index = all().find(draft);
  SPECTR_CHECK(index.has_value() && all().p(0)[*index] > 0.0);
  if (!classes_) return {*index, 0.0};
  TokenClasses::Share share = classes_->share(all().q()[*index] / all().p(0)[*index]);
  // If rounding has left a class empty, the other class takes the token.
  if (layout_.of[share.low].count == 0) share = {share.low + 1, 0.0};
  if (share.s > 0.0 && layout_.of[share.low + 1].count == 0) share.s = 0.0;
  return share;
}

/// The residual of class c is the remaining part of its q. A token gets its share of the residuals of both
/// its classes, and all of its q beyond the largest ratio.
void Tickets::leftover(std::size_t begin, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  if (layout_.residual.empty()) return;
  if (!classes_) {
    std::copy_n(layout_.residual.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  const auto first = std::ranges::find_if(residual_rate_, [](double rate) { return rate > 0.0; });
  const auto accepted = first - residual_rate_.begin();  // number of lowest classes, which have no residual
  const double ratio_accepted = accepted > 0 ? classes_->edges[static_cast<std::size_t>(accepted) - 1] : -1.0;
  const double* const p = all().p(0).data() + begin;
  const double* const q = all().q().data() + begin;
  for (std::size_t j = 0; j < out.size(); ++j) {
    if (!(p[j] > 0.0)) {
      out[j] = q[j];
    } else if (q[j] > ratio_accepted * p[j]) {
      const auto [low, s] = classes_->share(q[j] / p[j]);
      const double upper = s > 0.0 ? s * residual_rate_[low + 1] : 0.0;
      out[j] = p[j] * ((1.0 - s) * residual_rate_[low] + upper) +
               std::max(0.0, q[j] - classes_->max_ratio() * p[j]);
    }
  }
}

/// Draws the highest piece of several copies of one class: (a, b] with probability F(b)^copies − F(a)^copies,
/// where F(u) is the share of its length below u.
std::size_t Tickets::draw_highest(std::size_t c, std::size_t copies, Choices& choices) const {
  const auto [begin, count] = layout_.of[c];
  const double* const length = layout_.pieces.length.data() + begin;
  const double total = std::accumulate(length, length + count, 0.0);  // p, unless rounding dominates
  const auto share = [&](std::size_t from, std::size_t to) {
    return std::accumulate(length + from, length + to, 0.0) / total;
  };
  std::size_t reached = 0;
  double F = 0.0;  // F at the pieces before `reached`
  return begin + draw_by_mass(choices, count, [&](std::size_t from, std::size_t to) {
           if (from != reached) F = share(0, from);
           const double a = F, width = share(from, to);
           reached = to;
           F += width;
           return power_difference(a, width, copies);
         });
}

/// The points of the drafts in one class are exchangeable: the highest of them has the distribution of
/// draw_highest() and can belong to any of these drafts. The first of them, in draw order, is used.
Selection Tickets::select(std::span<const Token> drafts, Choices& choices) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  std::array<std::size_t, many_drafts> picked;
  for (std::size_t i = 0; i < drafts.size() && classes_; ++i) {
    const auto [low, s] = classes(drafts[i]);
    picked[i] = choices.accept(s) ? low + 1 : low;
  }
  const auto are_alike = [&](std::size_t i, std::size_t j) {
    return classes_ ? picked[i] == picked[j] : drafts[i] == drafts[j];
  };
  Token winner = drafts[0];
  std::optional<std::size_t> highest;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    std::size_t earlier = 0, copies = 0;
    for (std::size_t j = 0; j < drafts.size() && earlier == 0; ++j) {
      if (are_alike(i, j)) ++(j < i ? earlier : copies);
    }
    if (earlier > 0) continue;
    const std::size_t c = classes_ ? picked[i] : classes(drafts[i]).low;
    if (highest && !layout_.above(layout_.top_piece(c), *highest)) continue;
    const std::size_t piece = draw_highest(c, copies, choices);
    if (!highest || layout_.above(piece, *highest)) {
      highest = piece;
      winner = drafts[i];
    }
  }
  if (layout_.accepts(*highest)) return {winner, true};
  return {draw_rejected(choices), false};
}

/// Let f_jc(u) be the probability that draft j is in class c and below u, and F_j = Σ_c f_jc. For a piece
/// (a, b] of class c, P(the highest point is in it, and draft i is the first one in c) = H(b) − H(a), where
/// H = Π_{j<i} (F_j − f_jc) f_ic Π_{j>i} F_j.
Tickets::Winners Tickets::winners(std::span<const Token> drafts) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  struct Drafted {
    TokenClasses::Share share;
    std::array<double, 2> below = {};  // f of class `low` and of the next one

    double in(std::size_t c) const { return c - share.low < 2 ? below[c - share.low] : 0.0; }
    double all() const { return std::min(1.0, below[0] + below[1]); }
  };
  struct Rise {
    std::size_t piece, c;
    double width;  // as a share of its class
  };
  RecycledVector<Drafted> drafted;
  RecycledVector<Rise> rises;
  const auto add = [&](std::size_t c) {
    if (std::ranges::find(rises, c, &Rise::c) != rises.end()) return;
    const auto [begin, count] = layout_.of[c];
    const double* const length = layout_.pieces.length.data();
    const double total = std::accumulate(length + begin, length + begin + count, 0.0);
    for (std::size_t piece = begin; piece < begin + count; ++piece) {
      rises.push_back({piece, c, length[piece] / total});
    }
  };
  for (const Token draft : drafts) {
    drafted.push_back({classes(draft)});
    const auto [low, s] = drafted.back().share;
    if (s < 1.0) add(low);
    if (s > 0.0) add(low + 1);
  }
  std::ranges::sort(rises, [&](const Rise& a, const Rise& b) { return layout_.above(b.piece, a.piece); });

  const auto H = [&](std::size_t i, std::size_t c) {
    double product = drafted[i].in(c);
    for (std::size_t j = 0; j < drafted.size(); ++j) {
      if (j != i) product *= j < i ? drafted[j].all() - drafted[j].in(c) : drafted[j].all();
    }
    return product;
  };
  Winners winners{RecycledVector<double>(drafts.size(), 0.0)};
  RecycledVector<double> before(drafts.size());
  for (const auto& [piece, c, width] : rises) {
    for (std::size_t i = 0; i < drafts.size(); ++i) before[i] = H(i, c);
    for (Drafted& draft : drafted) {
      const auto [low, s] = draft.share;
      if (c == low) draft.below[0] += (1.0 - s) * width;
      if (c == low + 1) draft.below[1] += s * width;
    }
    if (layout_.accepts(piece)) {
      for (std::size_t i = 0; i < drafts.size(); ++i) {
        winners.wins[i] += std::max(0.0, H(i, c) - before[i]);
      }
    } else {  // Π F at the cut
      winners.lost = 1.0;
      for (const Drafted& draft : drafted) winners.lost *= draft.all();
    }
  }
  return winners;
}

Distribution Tickets::conditional(std::span<const Token> drafts) const {
  const auto [wins, lost] = winners(drafts);
  RecycledVector<double> distribution(target().vocabulary(), 0.0);
  for (std::size_t i = 0; i < drafts.size(); ++i)
    distribution[static_cast<std::size_t>(drafts[i])] += wins[i];
  if (lost > 0.0) {
    const Distribution& last = rejected();
    for (std::size_t i = 0; i < last.size(); ++i) {
      distribution[static_cast<std::size_t>(last.token(i))] += lost * last.probabilities()[i];
    }
  }
  return Distribution::from_weights(std::move(distribution));
}

/// Returns the distribution proportional to (w d, 1 − w), where an additional token denotes a rejection.
Distribution with_rejection(const Distribution& d, double w) {
  RecycledVector<double> weights;
  weights.reserve(d.size() + 1);
  for (const double x : d.probabilities()) weights.push_back(w * x);
  weights.push_back(1.0 - w);
  if (d.is_dense()) return Distribution::from_weights(std::move(weights));
  RecycledVector<Token> tokens(d.tokens().begin(), d.tokens().end());
  tokens.push_back(static_cast<Token>(d.vocabulary()));
  return Distribution::from_weights(std::move(tokens), std::move(weights), d.vocabulary() + 1);
}

class PartialTickets final : public PartialPlan {
 public:
  PartialTickets(const Distribution& p, std::size_t k, double w, const Distribution& q)
      : rejection_(static_cast<Token>(q.vocabulary())) {
    const Distribution* drafts = &p;
    const Distribution* target = &q;
    if (w < 1.0) {
      drafts = &p_.emplace(with_rejection(p, 1.0));
      target = &q_.emplace(with_rejection(q, w));
    }
    const DraftDistributions draws(*drafts, k);
    tickets_.emplace(draws, *target, DistributionUnion(draws, *target));
  }

  RecycledVector<double> accepted(std::span<const Token> draws) const override {
    return tickets_->winners(draws).wins;
  }

  std::optional<Token> draw_rejected(Choices& choices) const override {
    const Token token = tickets_->rejected().draw(choices);
    return token == rejection_ ? std::nullopt : std::optional(token);
  }

 private:
  Token rejection_;
  std::optional<Distribution> p_, q_;  // with the rejection token; nullopt if w = 1
  std::optional<Tickets> tickets_;
};

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_tickets(const DraftDistributions& p, const Distribution& q,
                                                     const PlanOptions&) {
  if (!p.equal()) {
    return error("optimal: all {} drafts must come from one law; for different laws use otm-lp or str++",
                 p.count());
  }
  return std::make_unique<Tickets>(p, q, DistributionUnion(p, q));
}

std::unique_ptr<PartialPlan> build_partial_tickets(const Distribution& p, std::size_t k, double w,
                                                   const Distribution& q) {
  return std::make_unique<PartialTickets>(p, k, w, q);
}

}  // namespace spectr
