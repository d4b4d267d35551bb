#include "lab/theory/joint_counterexamples.h"

#include <cmath>

#include "lab/theory/joint_decoding.h"
#include "spectr/base/check.h"

namespace spectr::lab {
namespace {

/// Returns a pair p = q whose rows are equal at every step. At the first step all rows are those of state 0,
/// where the sequence starts.
MarkovPair homogeneous(std::size_t states, std::size_t horizon, const std::vector<double>& rows) {
  std::vector<double> all;
  for (std::size_t x = 0; x < states; ++x)
    all.insert(all.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(states));
  for (std::size_t n = 1; n < horizon; ++n) all.insert(all.end(), rows.begin(), rows.end());
  return {states, horizon, all, all};
}

}  // namespace

LuringChain::LuringChain(double mixed) : rows_(states * states, 0.0) {
  constexpr std::size_t A = 0, B = 1, C = 2;
  rows_[A * states + A] = 0.6, rows_[A * states + B] = 0.4;
  rows_[B * states + C] = 1.0;
  for (std::size_t x = C; x < states; ++x) {
    for (std::size_t d = C + 1; d < states; ++d) rows_[x * states + d] = 0.1;
  }
  for (double& q : rows_) q = (1.0 - mixed) * q + mixed / states;
}

MarkovPair LuringChain::pair(std::size_t horizon) const {
  return homogeneous(states, horizon, rows_);
}

double LuringChain::joint_limit(std::size_t block) const {
  const MarkovPair one = pair(block + 1);  // the rows of every step but the first
  const LikeliestBlocks blocks(one, [&](std::size_t n, std::size_t x) { return one.q(n, x); }, block);
  std::vector<std::size_t> begun = {start};  // starting states of blocks
  for (;;) {
    const std::size_t next = blocks.block(block, 1, begun.back()).back();
    for (std::size_t i = 0; i < begun.size(); ++i) {
      if (begun[i] != next) continue;
      double cost = 0.0;  // of the recurring blocks
      for (std::size_t j = i; j < begun.size(); ++j) cost -= blocks.log_likelihood(block, 1, begun[j]);
      return cost / static_cast<double>((begun.size() - i) * block);
    }
    begun.push_back(next);
  }
}

LeavingChain::Costs LeavingChain::costs(std::size_t tokens) const {
  SPECTR_CHECK(tokens >= 2 && tokens % 2 == 0);
  const double a = stay, T = static_cast<double>(tokens), blocks = T / 2.0;
  const double log_bad = std::log(static_cast<double>(bad));
  const double entropy = -a * std::log(a) - (1.0 - a) * (std::log(1.0 - a) - log_bad);  // of A's row
  // A block that begins in A drafts and accepts A; the target's own token A keeps the sequence there. So
  // block i begins in A with probability aⁱ, like the target's own sequence after i tokens.
  const double in_a = (1.0 - std::pow(a, blocks)) / (1.0 - a);
  const double target_in_a = (1.0 - std::pow(a, T)) / (1.0 - a);
  return {.assisted = (in_a * (entropy - std::log(a)) + (blocks - in_a) * 2.0 * log_bad) / T,
          .joint = -std::log(a),
          .entropy = (target_in_a * entropy + (T - target_in_a) * log_bad) / T,
          .own_entropy = (in_a * entropy + (blocks - in_a) * log_bad) / blocks,
          .joint_contexts = (-in_a * std::log(a) + (blocks - in_a) * log_bad) / blocks};
}

MarkovPair LeavingChain::pair(std::size_t horizon) const {
  const std::size_t states = bad + 1;
  std::vector<double> rows(states * states, 1.0 / static_cast<double>(bad));
  for (std::size_t x = 0; x < states; ++x) rows[x * states] = 0.0;
  rows[0] = stay;
  for (std::size_t y = 1; y < states; ++y) rows[y] = (1.0 - stay) / static_cast<double>(bad);
  return homogeneous(states, horizon, rows);
}

}  // namespace spectr::lab
