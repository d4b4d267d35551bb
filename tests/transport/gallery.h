#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace spectr::gallery {

/// A tiny transport problem whose exact values are known by hand; each a probability that a draft is
/// accepted.
struct Problem {
  std::string_view name;
  std::vector<double> p, q;
  std::size_t k;
  double recursive, k_seq, optimum;
};

inline std::vector<Problem> problems() {
  return {
      // Three tokens in opposite order. k-Seq: ρ = 3/2, β = 1/2. Optimum: all but the likeliest draft, 1/36 +
      // …
      {"opposite triangle, k=1",
       {1. / 2, 1. / 3, 1. / 6},
       {1. / 6, 1. / 3, 1. / 2},
       1,
       2. / 3,
       2. / 3,
       2. / 3},
      {"opposite triangle, k=2",
       {1. / 2, 1. / 3, 1. / 6},
       {1. / 6, 1. / 3, 1. / 2},
       2,
       13. / 18,
       3. / 4,
       29. / 36},
      // Bernoulli. k-Seq: 1/ρ solves 9s² + 4s − 4 = … (0.648268 in the table of the mathematics).
      {"bernoulli 1/4 to 3/4, k=2", {3. / 4, 1. / 4}, {1. / 4, 3. / 4}, 2, 0.625, 0.64826819, 0.6875},
  };
}

}  // namespace spectr::gallery
