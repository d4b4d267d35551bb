#include "lab/theory/batch_improvement.h"

#include <cmath>

#include "spectr/base/check.h"

namespace spectr::lab {

double uniform_batch_improvement(double r, std::size_t sequences) {
  SPECTR_CHECK(r >= 1.0 && sequences >= 1);
  const double miss = 1.0 - 1.0 / r;
  return miss - std::pow(miss, static_cast<double>(sequences));
}

double bernoulli_batch_improvement(double u, double v, std::size_t sequences) {
  SPECTR_CHECK(sequences >= 1);
  const double miss = u > v ? u : 1.0 - u;
  return std::abs(u - v) * (1.0 - std::pow(miss, static_cast<double>(sequences - 1)));
}

}  // namespace spectr::lab
