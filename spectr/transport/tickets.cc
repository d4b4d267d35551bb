#include "spectr/transport/tickets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/transport/distribution_pair.h"
#include "spectr/transport/draw_by_mass.h"
#include "spectr/transport/independent_plan.h"
#include "spectr/transport/powers.h"
#include "spectr/transport/ticket_layout.h"

namespace spectr {
namespace {

class Tickets final : public IndependentPlan {
 public:
  Tickets(const DraftDistributions& p, const Distribution& q)
      : IndependentPlan(p), pair_(p[0], q), layout_(lay_tickets(pair_.p(), pair_.q(), p.count())) {
    if (!layout_.residual.empty()) residual_ = pair_.distribution(std::exchange(layout_.residual, {}));
  }

  Selection select(std::span<const Token> drafts, Choices& choices) const override;
  double acceptance() const override { return 1.0 - layout_.rejected; }
  std::optional<Distribution> residual() const override {
    return acceptance() < 1.0 ? residual_ : std::nullopt;
  }
  Distribution conditional(std::span<const Token> drafts) const override;

 private:
  std::size_t index_of(Token draft) const;
  std::size_t draw_highest(std::size_t index, std::size_t copies, Choices& choices) const;

  DistributionPair pair_;
  TicketLayout layout_;
  std::optional<Distribution> residual_;
};

std::size_t Tickets::index_of(Token draft) const {
  const std::optional<std::size_t> index = pair_.find(draft);
  SPECTR_CHECK(index.has_value() && layout_.of[*index].count > 0);
  return *index;
}

/// The highest piece of several copies of one token is (a, b] with probability F(b)^copies − F(a)^copies,
/// F(u) = share of the token's length that lies below u.
std::size_t Tickets::draw_highest(std::size_t index, std::size_t copies, Choices& choices) const {
  const auto [begin, count] = layout_.of[index];
  const double* const length = layout_.pieces.length.data() + begin;
  const double total = std::accumulate(length, length + count, 0.0);  // p, but where rounding is more than p
  const auto share = [&](std::size_t from, std::size_t to) {
    return std::accumulate(length + from, length + to, 0.0) / total;
  };
  std::size_t reached = 0;
  double F = 0.0;  // of the pieces before `reached`
  return begin + draw_by_mass(choices, count, [&](std::size_t from, std::size_t to) {
           if (from != reached) F = share(0, from);
           const double a = F, width = share(from, to);
           reached = to;
           F += width;
           return power_difference(a, width, copies);
         });
}

Selection Tickets::select(std::span<const Token> drafts, Choices& choices) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  Token winner = drafts[0];
  std::optional<std::size_t> highest;
  for (auto draft = drafts.begin(); draft != drafts.end(); ++draft) {
    if (std::find(drafts.begin(), draft, *draft) != draft) continue;  // drawn with its first copy
    const std::size_t index = index_of(*draft);
    if (highest && !layout_.above(layout_.top_piece(index), *highest)) continue;
    const auto copies = static_cast<std::size_t>(std::count(draft, drafts.end(), *draft));
    const std::size_t piece = draw_highest(index, copies, choices);
    if (!highest || layout_.above(piece, *highest)) {
      highest = piece;
      winner = *draft;
    }
  }
  if (layout_.accepts(*highest)) return {winner, true};
  return {residual_->draw(choices), false};
}

/// P(the winner lies in (a, b]) = Π_i F_i(b) − Π_i F_i(a), F_i(u) = share of X_i's pieces that lies below u.
Distribution Tickets::conditional(std::span<const Token> drafts) const {
  SPECTR_CHECK(drafts.size() == this->drafts());
  struct Drafted {
    std::size_t index;
    double below = 0.0, total = 0.0, copies = 0.0;
  };
  struct Rise {
    std::size_t piece, drafted;
  };
  RecycledVector<Drafted> tokens;
  RecycledVector<Rise> rises;
  for (const Token draft : drafts) {
    const std::size_t index = index_of(draft);
    const auto known = std::ranges::find(tokens, index, &Drafted::index);
    if (known != tokens.end()) {
      known->copies += 1.0;
      continue;
    }
    Drafted token{.index = index, .copies = 1.0};
    const auto [begin, count] = layout_.of[index];
    for (std::size_t piece = begin; piece < begin + count; ++piece) {
      token.total += layout_.pieces.length[piece];
      rises.push_back({piece, tokens.size()});
    }
    tokens.push_back(token);
  }
  std::ranges::sort(rises, [&](const Rise& a, const Rise& b) { return layout_.above(b.piece, a.piece); });

  RecycledVector<double> distribution(pair_.size(), 0.0);
  double reached = 0.0, rejected = 0.0;  // Π F at the upper end of the last piece, and at the cut
  for (const auto [piece, drafted] : rises) {
    Drafted& token = tokens[drafted];
    token.below += layout_.pieces.length[piece];
    double product = 1.0;
    for (const Drafted& t : tokens) product *= std::pow(std::min(1.0, t.below / t.total), t.copies);
    if (layout_.accepts(piece)) {
      distribution[token.index] += std::max(0.0, product - reached);
    } else {
      rejected = product;
    }
    reached = product;
  }
  if (rejected > 0.0) {
    for (std::size_t i = 0; i < distribution.size(); ++i)
      distribution[i] += rejected * (*residual_)[pair_.token(i)];
  }
  return pair_.distribution(std::move(distribution));
}

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_tickets(const DraftDistributions& p, const Distribution& q,
                                                     const PlanOptions&) {
  if (!p.equal()) {
    return error("optimal: all {} drafts must come from one law; for different laws use otm-lp or str++",
                 p.count());
  }
  return std::make_unique<Tickets>(p, q);
}

}  // namespace spectr
