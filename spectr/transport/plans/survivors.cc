#include "spectr/transport/plans/survivors.h"

#include <algorithm>
#include <numeric>

#include "spectr/base/check.h"
#include "spectr/transport/math/powers.h"
#include "spectr/transport/plans/ticket_layout.h"

namespace spectr {
namespace {

/// Adds q(y) P(N = n | y) for n = 1 … k to `sums`. Returns q(y) as these tickets for k drafts give it.
double count_survivors(const TicketLayout& tickets, std::size_t y, std::size_t k, Survivors& sums) {
  const auto [begin, count] = tickets.of[y];
  const auto& length = tickets.pieces.length;
  double own = 0.0, own_cut = 0.0, returned = 0.0;
  const auto add = [&](double G_power_difference, double H, std::size_t n, double binomial) {
    const double mass = binomial * G_power_difference * power(H, k - n);
    if (n > 0) sums(k, n) += mass;
    returned += mass;
  };
  const auto for_each_count = [&](double from, double width, double H) {
    double binomial = 1.0;
    for (std::size_t n = 1; n <= k; ++n) {
      binomial *= static_cast<double>(k - n + 1) / static_cast<double>(n);
      add(power_difference(from, width, n), H, n, binomial);
    }
  };
  for (std::size_t piece = begin; piece < begin + count; ++piece) {
    if (tickets.accepts(piece)) {
      double others = 0.0;
      for (std::size_t other = 0; other < length.size(); ++other) {
        const bool is_own = other >= begin && other < begin + count;
        if (!is_own && tickets.above(piece, other)) others += length[other];
      }
      for_each_count(own, length[piece], others);
    } else {
      own_cut += length[piece];
    }
    own += length[piece];
  }
  if (tickets.residual.empty() || !(tickets.residual[y] > 0.0)) return returned;

  const double residual = std::accumulate(tickets.residual.begin(), tickets.residual.end(), 0.0);
  const double share = tickets.residual[y] / residual;
  double cut = 0.0;
  for (std::size_t piece = 0; piece < length.size(); ++piece) {
    if (!tickets.accepts(piece)) cut += length[piece];
  }
  double binomial = share;
  for (std::size_t n = 0; n <= k; ++n) {
    add(power(own_cut, n), std::max(0.0, cut - own_cut), n, binomial);
    binomial *= static_cast<double>(k - n) / static_cast<double>(n + 1);
  }
  return returned;
}

}  // namespace

Survivors survivors(std::span<const double> p, std::span<const double> q, std::size_t y,
                    std::size_t max_drafts) {
  SPECTR_CHECK(y < q.size() && max_drafts <= Survivors::max_drafts);
  Survivors survivors;
  for (std::size_t k = 1; k <= max_drafts; ++k) {
    const double returned = count_survivors(lay_tickets(p, q, k), y, k, survivors);
    for (std::size_t n = 1; n <= k && returned > 0.0; ++n) survivors(k, n) /= returned;
  }
  return survivors;
}

}  // namespace spectr
