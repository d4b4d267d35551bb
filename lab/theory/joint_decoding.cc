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

namespace {

LikeliestBlocks target_blocks(const MarkovPair& pair, std::size_t length) {
  return {pair, [&](std::size_t n, std::size_t x) { return pair.q(n, x); }, length};
}

}  // namespace

std::vector<double> joint_decoding_cost(const MarkovPair& pair, std::size_t start,
                                        std::span<const std::size_t> lengths) {
  SPECTR_CHECK(!lengths.empty() && std::ranges::min(lengths) >= 1);
  const LikeliestBlocks blocks = target_blocks(pair, std::ranges::max(lengths));
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

double random_joint_decoding_cost(const MarkovPair& pair, std::size_t start,
                                  std::span<const double> lengths) {
  const std::size_t T = pair.horizon(), V = pair.states();
  const LikeliestBlocks blocks = target_blocks(pair, lengths.size());
  std::vector begun(T + 1, std::vector(V, 0.0));  // P(a block begins after n tokens, the last of them x)
  begun[0][start] = 1.0;
  double cost = 0.0;
  for (std::size_t n = 0; n < T; ++n) {
    for (std::size_t x = 0; x < V; ++x) {
      for (std::size_t length = 1; begun[n][x] > 0.0 && length <= lengths.size(); ++length) {
        const double mass = begun[n][x] * lengths[length - 1];
        if (mass == 0.0) continue;
        const std::size_t tokens = std::min(length, T - n);
        cost -= mass * blocks.log_likelihood(tokens, n, x);
        begun[n + tokens][blocks.block(tokens, n, x).back()] += mass;
      }
    }
  }
  return cost;
}

std::vector<std::vector<double>> joint_costs_along_target(const MarkovPair& pair, std::size_t start,
                                                          std::size_t max_length) {
  const std::size_t T = pair.horizon(), V = pair.states();
  const LikeliestBlocks blocks = target_blocks(pair, max_length);
  std::vector<std::vector<double>> costs(max_length);
  std::vector<double> distribution(V, 0.0);  // of token n
  distribution[start] = 1.0;
  for (std::size_t n = 0; n < T; ++n) {
    std::vector<double> next(V, 0.0);
    for (std::size_t length = 1; length <= std::min(max_length, T - n); ++length) {
      double cost = 0.0;
      for (std::size_t x = 0; x < V; ++x) {
        if (distribution[x] > 0.0) cost -= distribution[x] * blocks.log_likelihood(length, n, x);
      }
      costs[length - 1].push_back(cost);
    }
    for (std::size_t x = 0; x < V; ++x) {
      for (std::size_t y = 0; y < V; ++y) next[y] += distribution[x] * pair.q(n, x)[y];
    }
    distribution = std::move(next);
  }
  return costs;
}

}  // namespace spectr::lab
