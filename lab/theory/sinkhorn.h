#pragma once

#include <cstddef>

#include "spectr/transport/distribution.h"

namespace spectr::lab {

struct SinkhornOptions {
  double regularisation = 0.02;  ///< λ, weight of the entropy
  double tolerance = 1e-6;       ///< Σ |rows − Πp| at which the iteration stops
  std::size_t max_iterations = 20'000;
};

struct Sinkhorn {
  double acceptance;       ///< acceptance of the plan after rounding to the marginals
  std::size_t iterations;  ///< rescalings of all rows and columns
};

/// Solves the transport problem of k i.i.d. drafts with membership cost (SpecTr, section 5) by Sinkhorn's
/// iteration, as compared in the paper's footnote 9 and in section 4.3 of SpecTr++: between V^k tuples and V
/// tokens, with kernel 1 for y ∈ {x₁ … x_k} and e^{−1/λ} otherwise. The plan is then rounded to the exact
/// marginals (Altschuler, Weed, Rigollet 2017), so its acceptance is attainable: at most the optimum and, in
/// the limit of the iteration, at least the optimum − λ ln(V^{k+1}). Requires: dense distributions. Cost: O(k
/// V^k) per iteration.
Sinkhorn sinkhorn(const Distribution& p, const Distribution& q, std::size_t k,
                  const SinkhornOptions& options = {});

}  // namespace spectr::lab
