#pragma once

#include <cstddef>
#include <limits>
#include <ostream>
#include <string_view>
#include <vector>

namespace spectr::gallery {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A tiny transport problem with the exact acceptance of each plan for which it is known by hand.
struct Problem {
  std::string_view name;
  std::vector<double> p, q;
  std::size_t k;
  double k_seq, recursive, without_replacement, str, optimum;  ///< NaN: unknown
};

inline void PrintTo(const Problem& problem, std::ostream* out) {
  *out << problem.name;
}

/// k-Seq for p = (½, ½), q = (¼, ¾), k = 2: 1/ρ* = 3 − √5; the rejection is (1 − β)² = ((√5 − 1)/4)².
constexpr double skewed_coin_k_seq = 0.9045084971874737;

inline const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      // Two orders of three tokens. k-Seq: ρ = 3/2, β = 1/2.
      {"triangle_1",
       {1. / 2, 1. / 3, 1. / 6},
       {1. / 6, 1. / 3, 1. / 2},
       1,
       2. / 3,
       2. / 3,
       2. / 3,
       2. / 3,
       2. / 3},
      {"triangle_2",
       {1. / 2, 1. / 3, 1. / 6},
       {1. / 6, 1. / 3, 1. / 2},
       2,
       3. / 4,
       13. / 18,
       7. / 9,
       7. / 9,
       29. / 36},
      {"triangle_3",
       {1. / 2, 1. / 3, 1. / 6},
       {1. / 6, 1. / 3, 1. / 2},
       3,
       unknown,
       unknown,
       unknown,
       unknown,
       199. / 216},
      // A fair coin drafts for a skewed one: two drafts miss the rare side with probability 1/4 = q.
      {"skewed_coin", {1. / 2, 1. / 2}, {1. / 4, 3. / 4}, 2, skewed_coin_k_seq, unknown, 1, 1, 1},
      // The draft is Ber(1/4), the target Ber(3/4).
      {"bernoulli", {3. / 4, 1. / 4}, {1. / 4, 3. / 4}, 2, unknown, 0.625, 1, unknown, 0.6875},
      // The draft is uniform on d = 4 tokens, the target on d/r = 2: acceptance is 1 − (1 − 1/r)^k, or
      // 1 − C(2, 2)/C(4, 2) without replacement.
      {"uniform",
       {1. / 4, 1. / 4, 1. / 4, 1. / 4},
       {1. / 2, 1. / 2, 0, 0},
       2,
       3. / 4,
       3. / 4,
       5. / 6,
       3. / 4,
       3. / 4},
      {"equal", {0.2, 0.5, 0.3}, {0.2, 0.5, 0.3}, 3, 1, 1, 1, 1, 1},
      {"disjoint", {0.4, 0.6, 0, 0}, {0, 0, 0.5, 0.5}, 3, 0, 0, 0, 0, 0},
      // All drafts are the same token.
      {"point_draft", {0, 1, 0}, {0.5, 0.3, 0.2}, 3, 0.3, 0.3, 0.3, 0.3, 0.3},
      // Y is certain: some draft must equal it.
      {"point_target", {0.5, 0.3, 0.2}, {0, 1, 0}, 2, 0.51, 0.51, 0.3 + 0.5 * 0.6 + 0.2 * 0.375, 0.51, 0.51},
      {"one_token", {1}, {1}, 2, 1, 1, 1, 1, 1},
  };
  return all;
}

}  // namespace spectr::gallery
