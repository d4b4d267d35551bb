#include "spectr/sampling/likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spectr {

double negative_log_likelihood(const Logits& row, Token token) {
  return row.visit([token](auto logits) {
    double largest = -std::numeric_limits<double>::infinity();
    for (double logit : logits) largest = std::max(largest, logit);
    double sum = 0.0;
    for (double logit : logits) sum += std::exp(logit - largest);
    return largest + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(token)]);
  });
}

}  // namespace spectr
