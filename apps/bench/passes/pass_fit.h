#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/support/json.h"

namespace spectr::bench {

/// The line y = fixed + per_row · n.
struct PassFit {
  double fixed;
  double per_row;
  double residual;  ///< root mean square of the residuals
  double effect;    ///< |per_row| · (largest n − smallest n), the range that the line explains

  /// Returns the fixed share of a pass over n rows, or nothing if the line is no valid decomposition: the
  /// residual exceeds the effect, or a part is below 0 by more than the residual.
  std::optional<double> share_fixed(double n) const;
};

/// Fits a line by least squares. Returns nothing for fewer than two different n. Requires: as many y as n.
std::optional<PassFit> fit_passes(std::span<const double> n, std::span<const double> y);

/// Fits MTAD's decomposition (arXiv 2407.09722, equation 9), E = PW_mem T_mem + PW_flop T_flop, to the rows
/// of measure_batches: reading weights costs time and energy once per pass, arithmetic once per row (n =
/// batch · length, plus the root of a tree). Returns {"ms": {fixed, per_row, residual, share_fixed},
/// "joules": the same or null}, with null if no line can be fitted. Uses the fastest time of each row,
/// since other load only adds to times. share_fixed is that of the first pass, or null
/// (PassFit::share_fixed).
Json decomposition_of(const Json& rows);

/// Describes it in words, one line per quantity; empty if there is none.
std::string decomposition_text(const Json& decomposition);

}  // namespace spectr::bench
