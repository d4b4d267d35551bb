#include "lab/theory/joint_decoding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spectr::lab {

LikeliestBlocks::LikeliestBlocks(const MarkovPair& pair, const Distributions& distributions,
                                 std::size_t length)
    : states_(pair.states()) {
  const std::size_t all = (pair.horizon() + 1) * states_;
  best_.assign(length + 1, std::vector(all, 0.0));
  first_.assign(length + 1, std::vector<std::size_t>(all, 0));
  for (std::size_t i = 1; i <= length; ++i) {
    for (std::size_t n = 0; n + i <= pair.horizon(); ++n) {
      for (std::size_t x = 0; x < states_; ++x) {
        const auto distribution = distributions(n, x);
        double max = -std::numeric_limits<double>::infinity();
        for (std::size_t y = 0; y < states_; ++y) {
          const double value = std::log(distribution[y]) + best_[i - 1][at(n + 1, y)];
          if (value > max) {
            max = value;
            first_[i][at(n, x)] = y;
          }
        }
        best_[i][at(n, x)] = max;
      }
    }
  }
}

std::vector<std::size_t> LikeliestBlocks::block(std::size_t i, std::size_t n, std::size_t x) const {
  std::vector<std::size_t> tokens;
  for (; i > 0; --i, ++n) tokens.push_back(x = first_[i][at(n, x)]);
  return tokens;
}

std::vector<double> joint_decoding_cost(const MarkovPair& pair, std::size_t start,
                                        std::span<const std::size_t> lengths) {
  SPECTR_CHECK(!lengths.empty() && std::ranges::min(lengths) >= 1);
  const LikeliestBlocks blocks(
      pair, [&](std::size_t n, std::size_t x) { return pair.q(n, x); }, std::ranges::max(lengths));
  std::vector<double> cost;
  std::size_t last = start;
  double sum = 0.0;
  for (std::size_t block = 0; cost.size() < pair.horizon(); ++block) {
    const std::size_t i = std::min(lengths[block % lengths.size()], pair.horizon() - cost.size());
    for (std::size_t y : blocks.block(i, cost.size(), last)) {
      sum -= std::log(pair.q(cost.size(), last)[y]);
      cost.push_back(sum);
      last = y;
    }
  }
  return cost;
}

}  // namespace spectr::lab
