// Replay counts the target passes that each setting would have needed for a given sequence.
#include "spectr/decode/auto/replay.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

constexpr double no_end = std::numeric_limits<double>::infinity();

/// Returns times of one second per pass, whatever its rows.
BlockTimes equal_times() {
  BlockTimes times = {.block = 1.0};
  times.target.fill(1.0);
  times.draft.fill(1.0);
  return times;
}

Distribution row(const TabularModel& model, std::size_t step, Token last) {
  RecycledVector<double> weights;
  for (const double log : model.log_row(step, last)) weights.push_back(std::exp(log));
  return Distribution::from_weights(std::move(weights));
}

/// Returns the mean of `read(replay)` over all sequences of this number of tokens, with the target's
/// probabilities; each replay has seen its sequence.
template <class Read>
double mean_over_sequences(const TabularPair& pair, std::size_t tokens, const Replay& empty, Read read) {
  double mean = 0.0;
  const auto go_on = [&](auto&& self, const Replay& replay, std::size_t step, Token last,
                         double probability) {
    if (step == tokens) {
      mean += probability * read(replay);
      return;
    }
    const Distribution p = row(pair.drafts.front(), step, last), q = row(pair.target, step, last);
    for (std::size_t i = 0; i < q.size(); ++i) {
      if (!(q.probabilities()[i] > 0.0)) continue;
      Replay next = replay;
      next.see(compare(p, q, q.token(i), 0.5), equal_times());
      self(self, next, step + 1, q.token(i), probability * q.probabilities()[i]);
    }
  };
  go_on(go_on, empty, 0, 0, 1.0);
  return mean;
}

TEST(Replay, CountsTheTargetPassesOfEverySettingExactly) {
  constexpr std::size_t tokens = 4;
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const std::size_t V = 2 + seed % 2;
    const TabularPair pair =
        seed % 3 == 2 ? TabularPair::sparse(V, tokens, seed) : TabularPair::random(V, tokens, seed);
    for (const auto& [K, L, trunk] :
         {std::array<std::size_t, 3>{1, 1, 0}, {1, 3, 0}, {2, 1, 0}, {2, 2, 0}, {3, 2, 0}, {2, 3, 1}}) {
      const Replay::Family family = {K, trunk, L};
      const double bounds[] = {0.0};
      const Replay empty({&family, 1}, bounds, no_end);
      const double blocks = mean_over_sequences(pair, tokens, empty, [&](const Replay& replay) {
        return static_cast<double>(tokens) / replay.tokens(replay.settings().size() - 1);
      });
      MethodOptions options = options_of(K, L, "optimal");
      options.trunk = trunk;
      const MethodDistribution exact = method_distribution(pair, "spectr", options, {.horizon = tokens});
      EXPECT_NEAR(blocks, exact.exact.expected_target_calls, 1e-12)
          << seed << ": K " << K << ", L " << L << ", trunk " << trunk;
    }
  }
}

/// Returns a position at which one draft survives with this probability.
DraftedPosition surviving(double probability) {
  DraftedPosition position;
  position.survivors(1, 1) = probability;
  return position;
}

TEST(Replay, KnowsTheAcceptanceOfEachLevelWhereItDependsOnTheBlock) {
  const Replay::Family chain = {.drafts = 1, .max_length = 3};
  const double bounds[] = {0.0};
  Replay replay({&chain, 1}, bounds, no_end, true);
  replay.see(surviving(1.0), equal_times());
  for (int i = 0; i < 400; ++i) {  // blocks draft two levels, and the second draft is never right
    replay.see(surviving(1.0), equal_times(), 1);
    replay.see(surviving(0.0), equal_times(), 2);
  }
  EXPECT_NEAR(replay.tokens(0), 2.0, 0.05);
  EXPECT_NEAR(replay.tokens(1), 2.0, 0.05) << "the second level adds nothing";
  EXPECT_NEAR(replay.tokens(2), 2.0, 0.05) << "and no draft reaches the third";

  Replay mixed({&chain, 1}, bounds, no_end);
  for (int i = 0; i < 400; ++i) mixed.see(surviving(i % 2 == 0 ? 1.0 : 0.0), equal_times(), 1);
  EXPECT_LT(mixed.tokens(0), 1.9) << "otherwise levels are alike";
}

TEST(Replay, CountsPositionsOfAllLevelsAlikeIfTheyDoNotDependOnTheBlock) {
  const Replay::Family chain = {.drafts = 1, .max_length = 4};
  const double bounds[] = {0.0};
  Replay apart({&chain, 1}, bounds, no_end, true), together({&chain, 1}, bounds, no_end);
  for (int i = 0; i < 100; ++i) {
    apart.see(surviving(0.7), equal_times());
    together.see(surviving(0.7), equal_times());
  }
  for (std::size_t setting = 0; setting < 4; ++setting) {
    EXPECT_EQ(apart.tokens(setting), together.tokens(setting));
    EXPECT_EQ(apart.seconds(setting), together.seconds(setting));
  }
}

}  // namespace
}  // namespace spectr
