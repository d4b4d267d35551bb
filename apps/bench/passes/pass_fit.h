#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/support/json.h"

namespace spectr::bench {

/// y = fixed + per_row · n.
struct PassFit {
  double fixed;
  double per_row;
  double residual;  ///< root mean square of what the line leaves of y
  double effect;    ///< |per_row| · (largest n − smallest n): what the line explains of y

  /// The share that does not grow with the rows, of a pass over n of them. None where the line is no
  /// decomposition: the residual exceeds the effect, or a part is below 0 by more than the residual.
  std::optional<double> share_fixed(double n) const;
};

/// The line of least squares. None for fewer than two different n. Requires: as many y as n.
std::optional<PassFit> fit_passes(std::span<const double> n, std::span<const double> y);

/// MTAD's decomposition (arXiv 2407.09722, equation 9), E = PW_mem T_mem + PW_flop T_flop, of the rows of
/// measure_batches: reading the weights takes time and energy once for a pass, arithmetic for each of its n
/// rows (batch · length, and in a tree its root). {"ms": {fixed, per_row, residual, share_fixed}, "joules":
/// the same or null}, null where one line cannot be told. Times are the fastest of each row, since other work
/// on the machine only adds to them. share_fixed is that of the first pass, null where PassFit::share_fixed
/// has none.
Json decomposition_of(const Json& rows);

/// It in words, a line each; empty where there is none.
std::string decomposition_text(const Json& decomposition);

}  // namespace spectr::bench
