#pragma once

#include <cstddef>

#include "spectr/transport/distribution.h"

namespace spectr::lab {

struct SinkhornOptions {
  double regularisation = 0.02;  ///< λ, of the entropy
  double tolerance = 1e-6;       ///< Σ |rows − Πp| where iterations end
  std::size_t max_iterations = 20'000;
};

struct Sinkhorn {
  double acceptance;       ///< of the plan, made feasible
  std::size_t iterations;  ///< rescalings of all rows and columns
};

/// The transport problem of k i.i.d. drafts with membership cost (SpecTr, section 5) by Sinkhorn's
/// iterations, as footnote 9 of the paper and section 4.3 of SpecTr++ compare it: between V^k tuples and V
/// tokens, kernel 1 for y ∈ {x₁ … x_k} and e^{−1/λ} otherwise. The plan is then rounded to the exact
/// marginals (Altschuler, Weed, Rigollet 2017), so that its acceptance is one that can be reached, at most
/// the optimum and, in the limit of the iterations, at least the optimum − λ ln(V^{k+1}). Requires: dense
/// distributions. Cost: O(k V^k) an iteration.
Sinkhorn sinkhorn(const Distribution& p, const Distribution& q, std::size_t k,
                  const SinkhornOptions& options = {});

}  // namespace spectr::lab
