#include "spectr/transport/plans/ticket_layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/math/powers.h"
#include "spectr/transport/math/ratio_order.h"
#include "spectr/transport/plan.h"

namespace spectr {
namespace {

/// The tokens with p > 0 by q / p ascending, with p, q and the sums P_j, D_j = Q_j − P_j^k of the first j.
struct Ladder {
  RecycledVector<std::uint32_t> index;
  RecycledVector<double> p, q;  // n
  RecycledVector<double> P, D;  // n + 1
  double unreachable = 0.0;     // q-mass where p = 0
  std::size_t barred = 0;       // number of leading tokens with q = 0

  std::size_t size() const { return index.size(); }
};

Ladder climb(std::span<const double> p, std::span<const double> q, std::size_t k) {
  const double p_total = sum_in_blocks(0, p.size(), [&](std::size_t i) { return p[i]; });
  const double q_total = sum_in_blocks(0, q.size(), [&](std::size_t i) { return q[i]; });
  Ladder ladder;
  ladder.index = ratio_order(p, q);
  const std::size_t n = ladder.index.size();
  ladder.p.resize(n);
  ladder.q.resize(n);
  ladder.P.resize(n + 1);
  ladder.D.resize(n + 1);
  Sum p_sum, q_sum;
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint32_t i = ladder.index[j];
    p_sum.add(ladder.p[j] = p[i] / p_total);
    q_sum.add(ladder.q[j] = q[i] / q_total);
    ladder.P[j + 1] = std::min(1.0, p_sum.value());
    ladder.D[j + 1] = q_sum.value() - power(ladder.P[j + 1], k);
  }
  const auto first_wanted = std::ranges::find_if(ladder.q, [](double q_j) { return q_j > 0.0; });
  ladder.barred = static_cast<std::size_t>(first_wanted - ladder.q.begin());
  ladder.unreachable =
      sum_in_blocks(0, p.size(), [&](std::size_t i) { return p[i] > 0.0 ? 0.0 : q[i] / q_total; });
  ladder.P[n] = 1.0;  // exact, without the rounding error of the sums
  ladder.D[n] = -ladder.unreachable;
  return ladder;
}

}  // namespace

TicketLayout lay_tickets(std::span<const double> p, std::span<const double> q, std::size_t k) {
  SPECTR_CHECK(p.size() == q.size() && k >= 1);
  Ladder ladder = climb(p, q, k);
  const std::size_t n = ladder.size();
  const auto& P = ladder.P;
  auto& D = ladder.D;

  TicketLayout layout;
  layout.of.resize(p.size());
  RecycledVector<double> residual(p.size(), 0.0);
  layout.pieces.low.reserve(2 * n);
  layout.pieces.length.reserve(2 * n);
  layout.rejected = std::min(1.0, -*std::min_element(D.begin(), D.end()));
  double cut = std::pow(layout.rejected, 1.0 / static_cast<double>(k));
  if (layout.rejected < rounding_of_rejection) {  // except for the probability that every draft has q = 0
    cut = P[ladder.barred];
    layout.rejected = power(cut, k);  // can underflow where the cut does not
  }
  if (layout.rejected > 0.0) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (!(p[i] > 0.0)) residual[i] = q[i];
    }
  }

  // A block ends at every j with D_j = S_j = min_{i ≥ j} D_i. Within a block m = q, except for its lowest
  // token, which loses res_j = S_{j+1} − S_j and takes the remainder. The tokens with q = 0 come last, when
  // only rounding errors are left above the cut.
  Leftover leftover(k, layout.pieces);
  double S = std::max(D[n], -layout.rejected);
  for (std::size_t end = n; end > 0;) {
    const double S_end = S;
    std::size_t begin = end - 1;
    while (begin > 0 && std::max(D[begin], -layout.rejected) > S_end) --begin;
    const bool lowest = begin == 0;
    const double pool = lowest ? cut : 0.0;
    leftover.open(pool, lowest ? cut : std::max(P[begin], cut), P[end]);
    for (std::size_t j = end; j-- > begin;) {
      const std::uint32_t i = ladder.index[j];
      const std::uint32_t first = static_cast<std::uint32_t>(layout.pieces.size());
      if (j < ladder.barred) {
        layout.pieces.add(Pieces::below_cut, ladder.p[j]);
      } else if (j == begin) {
        leftover.serve_last(ladder.p[j]);
      } else {
        leftover.serve(ladder.p[j], ladder.q[j]);
      }
      layout.of[i] = {first, static_cast<std::uint32_t>(layout.pieces.size()) - first};
    }
    S = lowest ? -layout.rejected : std::max(D[begin], -layout.rejected);
    if (layout.rejected > 0.0 && begin >= ladder.barred) {
      residual[ladder.index[begin]] = std::max(0.0, S_end - S);
    }
    end = begin;
  }
  if (layout.rejected > 0.0 || ladder.barred > 0) {
    const bool lost = std::ranges::none_of(residual, [](double x) { return x > 0.0; });  // underflow
    layout.residual = lost ? RecycledVector<double>(q.begin(), q.end()) : std::move(residual);
  }
  return layout;
}

}  // namespace spectr
