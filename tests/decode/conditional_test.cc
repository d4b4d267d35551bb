// Conditional verification and related methods: golden values of expected tokens per block, and the cases in
// which they coincide with older methods.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;

using Row = std::vector<double>;

double block_tokens(const TabularPair& pair, std::string_view method, const MethodOptions& options) {
  Decoder decoder = decoder_of(method, options);
  const std::size_t horizon = options.length + 1;
  OwnedModels models = pair.models(method, decoder, WarpOptions::none(), horizon);
  const Token prompt[] = {0};
  return value_of(expected_block_tokens(decoder, models, prompt, {.horizon = horizon}));
}

MethodOptions settings(std::size_t drafts, std::size_t length, std::string_view plan = "") {
  return options_of(drafts, length, plan);
}

MethodOptions unchanged(const MethodOptions& options) {
  return options;
}

MethodOptions with_look(const MethodOptions& options) {
  MethodOptions changed = options;
  changed.look = true;
  return changed;
}

MethodOptions with_trunk(const MethodOptions& options) {
  MethodOptions changed = options;
  changed.trunk = 1;
  return changed;
}

/// Returns a table whose rows depend on the last token; `first` follows the start.
TabularModel markov(const Row& first, const Row& after_0, const Row& after_1) {
  Row rows;
  for (int last = 0; last < 2; ++last) rows.insert(rows.end(), first.begin(), first.end());
  rows.insert(rows.end(), after_0.begin(), after_0.end());
  rows.insert(rows.end(), after_1.begin(), after_1.end());
  return {2, 2, rows};
}

struct GoldenPair {
  const char* name;
  TabularPair pair;
  std::size_t length;
};

const std::vector<GoldenPair>& golden_pairs() {
  static const auto constant = [](const Row& p, const Row& q) { return TabularPair::constant(p, q); };
  static const std::vector<GoldenPair> pairs = {
      {"A", constant({.75, .25}, {.25, .75}), 2},
      {"B", constant({1.0 / 2, 1.0 / 3, 1.0 / 6}, {1.0 / 6, 1.0 / 3, 1.0 / 2}), 2},
      {"C", constant({.6, .3, .1}, {.2, .35, .45}), 2},
      {"D", constant({.7, .3}, {.6, .4}), 3},
      {"F", constant({.5, .3, .2}, {.5, .3, .2}), 2},
      {"G", {{markov({.6, .4}, {.9, .1}, {.2, .8})}, markov({.5, .5}, {.5, .5}, {.6, .4})}, 3},
      {"H", constant({.4, .3, .2, .1}, {.1, .2, .3, .4}), 2},
  };
  return pairs;
}

/// Checks the expected tokens of a block with K = 2 on every golden pair.
void expect_golden(std::string_view method, const std::vector<double>& tokens,
                   MethodOptions (*change)(const MethodOptions&) = unchanged, std::string_view plan = "",
                   std::size_t drafts = 2) {
  for (std::size_t i = 0; i < golden_pairs().size(); ++i) {
    const auto& [name, pair, length] = golden_pairs()[i];
    EXPECT_NEAR(block_tokens(pair, method, change(settings(drafts, length, plan))), tokens[i], 1e-9)
        << method << " " << plan << ", pair " << name;
  }
}

TEST(BlockTokens, OfOlderMethodsAreTheGoldenValues) {
  expect_golden("speculative", {1.75, 19.0 / 9, 1.96, 3.439, 3, 2.764, 1.96}, unchanged, "", 1);
  expect_golden("block", {1.875, 13.0 / 6, 2.01, 3.541, 3, 2.841, 2.03}, unchanged, "", 1);
  expect_golden("spectr", {2.012918098, 2.268775720, 2.151346183, 3.680656000, 3, 2.974810181, 2.224166667},
                unchanged, "k-seq");
  expect_golden("spectr", {2.089843750, 2.374819875, 2.215889354, 3.853840000, 3, 3.080392000, 2.296352515},
                unchanged, "optimal");
  expect_golden("traversal", {2.0703125, 2.266975309, 2.1905, 3.673576, 3, 3.001198, 2.2325});
}

TEST(Conditional, AcceptsTheGoldenNumberOfTokens) {
  expect_golden("conditional",
                {2.167968750, 2.421281093, 2.283973744, 3.927320000, 3, 3.220220000, 2.350451311});
  EXPECT_NEAR(block_tokens(golden_pairs()[2].pair, "conditional", settings(3, 2)), 2.432330216, 1e-9);
  EXPECT_NEAR(block_tokens(golden_pairs()[5].pair, "conditional", settings(3, 3)), 3.385003338, 1e-9);
}

TEST(Conditional, AcceptsMoreInTheOrderThatPromisesMost) {
  expect_golden("conditional",
                {2.167968750, 2.424084548, 2.289154134, 3.953220000, 3, 3.225020000, 2.351883876}, with_look);
}

TEST(Conditional, OfATreeWithATrunkAcceptsTheGoldenNumberOfTokens) {
  expect_golden("conditional", {1.921875, 2.236111111, 2.096, 3.679, 3, 3.0987, 2.114}, with_trunk);
}

TEST(Univer, AcceptsTheGoldenNumberOfTokens) {
  expect_golden("univer", {2.625, 2.472222222, 2.3825, 3.89, 3, 3.145, 2.314666667});
}

TEST(GreedyBlock, AcceptsTheGoldenNumberOfTokens) {
  expect_golden("gbv", {2.167968750, 2.429012346, 2.2804, 3.52506, 2.4375, 2.93542, 2.352});
  const TabularPair pair = TabularPair::constant(Row{.5, .5, 0}, Row{.2, .3, .5});
  for (const char* method : {"conditional", "univer", "gbv", "traversal"})
    EXPECT_NEAR(block_tokens(pair, method, settings(2, 2)), 1.75, 1e-12) << method;
  EXPECT_NEAR(block_tokens(pair, "gbv", settings(3, 2)), 1.628125, 1e-12);
}

TEST(GreedyBlock, AcceptsLessOfMoreSequencesThatAreTheTargets) {
  const TabularPair pair = TabularPair::constant(Row{.5, .5}, Row{.5, .5});
  const double tokens[] = {2, 1.75, 1.625, 1.5625};
  for (std::size_t k = 1; k <= 4; ++k)
    EXPECT_NEAR(block_tokens(pair, "gbv", settings(k, 1)), tokens[k - 1], 1e-12) << k;
}

void expect_same(const TabularPair& pair, std::string_view method, const MethodOptions& options,
                 std::string_view other, const MethodOptions& others_options) {
  const MethodDistribution found = method_distribution(pair, method, options),
                           expected = method_distribution(pair, other, others_options);
  EXPECT_NEAR(found.exact.expected_target_calls, expected.exact.expected_target_calls, 1e-13);
  EXPECT_NEAR(found.exact.expected_rejections, expected.exact.expected_rejections, 1e-13);
  EXPECT_NEAR(block_tokens(pair, method, options), block_tokens(pair, other, others_options), 1e-14);
}

TEST(Conditional, OfAChainIsBlockVerification) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const TabularPair pair = TabularPair::random(3, 4, seed);
    for (const char* method : {"conditional", "univer", "gbv"})
      expect_same(pair, method, settings(1, 3), "block", settings(1, 3));
  }
}

TEST(Conditional, OfOneLevelIsTheOptimalPlan) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const TabularPair pair = TabularPair::random(4, 4, seed);
    for (const std::size_t k : {2u, 3u})
      expect_same(pair, "conditional", settings(k, 1), "spectr", settings(k, 1, "optimal"));
  }
}

TEST(Conditional, AcceptsAsMuchAsTheOptimalWalkAndTheBlock) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    for (const TabularPair& pair : {TabularPair::random(3, 4, seed), TabularPair::sparse(3, 4, seed)}) {
      const double tokens = block_tokens(pair, "conditional", settings(2, 2));
      EXPECT_GE(tokens, block_tokens(pair, "spectr", settings(2, 2, "optimal")) - 1e-12) << seed;
      EXPECT_GE(tokens, block_tokens(pair, "block", settings(1, 2)) - 1e-12) << seed;
    }
  }
}

TEST(Conditional, MostlyAcceptsMoreThanTraversalButNotAlways) {
  int more = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const TabularPair pair = TabularPair::random(3, 4, seed);
    more +=
        block_tokens(pair, "conditional", settings(2, 2)) > block_tokens(pair, "traversal", settings(2, 2));
  }
  EXPECT_EQ(more, 19);
  const TabularPair pair = TabularPair::sparse(3, 2, 154);
  EXPECT_NEAR(block_tokens(pair, "conditional", settings(2, 2)), 2.309108, 1e-6);
  EXPECT_NEAR(block_tokens(pair, "traversal", settings(2, 2)), 2.348366, 1e-6);
}

TEST(Conditional, HasTheTargetsDistributionOnFiftyPairs) {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    for (const TabularPair& pair : {TabularPair::random(3, 4, seed), TabularPair::sparse(3, 4, seed)}) {
      for (const char* method : {"conditional", "univer", "gbv"})
        EXPECT_LE(method_distribution(pair, method, settings(2, 2)).tv, 1e-12) << method << " " << seed;
      EXPECT_LE(method_distribution(pair, "conditional", with_look(settings(3, 2))).tv, 1e-12) << seed;
      for (const char* method : {"spectr", "traversal", "conditional"}) {
        EXPECT_LE(method_distribution(pair, method, with_trunk(settings(2, 3))).tv, 1e-12)
            << method << " " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace spectr
