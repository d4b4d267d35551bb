// No completion by `auto` takes much longer than plain decoding, whatever the fate of its drafts.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/auto/auto_drafter.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

/// The cost of a completion in plain passes, by the cost model, if drafts
/// promise much and each one is rejected.
struct Unlucky {
  double seconds = 0.0;
  std::size_t largest_tree = 0;  // number of drafted nodes
};

Unlucky all_rejected(double slope, std::size_t tokens) {
  // The draft is uniform, so sequences rarely share a prefix; the target allows three of ten tokens.
  constexpr std::size_t V = 256, liked = 77;
  std::vector<double> p(V, 1.0 / V), q(V, 0.0);
  std::fill_n(q.begin(), liked, 1.0 / liked);
  const TabularPair pair = TabularPair::constant(p, q);
  const MethodOptions options = measured(slope, {0.001});
  Decoder decoder = decoder_of("auto", options);
  OwnedModels models = pair.models("auto", decoder, WarpOptions::none(), tokens);
  Drafter& drafter = decoder.drafter();
  CounterRandom choices(1);
  Unlucky unlucky;
  std::vector<Token> sequence = {0};
  EXPECT_TRUE(drafter.open({.sequence = sequence, .left = tokens, .index = 0, .ends = {}}, models));
  for (std::size_t written = 0; written < tokens; ++written) {
    const BlockStart start = {.sequence = sequence, .left = tokens - written, .index = written, .ends = {}};
    Draft draft(sequence.back());
    EXPECT_TRUE(drafter.propose(start, models, choices, draft));
    EXPECT_TRUE(models.target.score(sequence, draft.tree()));
    NodeDistributions distributions(models.target, models.warp, sequence, draft.tree(), V);
    Verdict rejected;
    rejected.last = static_cast<Token>(written % liked);
    EXPECT_TRUE(drafter.observe(start, draft, rejected, distributions));

    const auto nodes = static_cast<std::size_t>(draft.tree().size()) - 1;
    const auto expected = drafter.expectation();
    const auto levels = static_cast<std::size_t>(draft.tree().depth(draft.tree().size() - 1));
    unlucky.seconds += seconds_by(*options.costs, expected->model, nodes, levels);
    unlucky.largest_tree = std::max(unlucky.largest_tree, nodes);
    models.target.keep({});
    models.drafts.front()->keep({});
    sequence.push_back(*rejected.last);
  }
  return unlucky;
}

TEST(RegretBudget, HoldsWhereManySequencesWereToBeginAlikeAndDoNot) {
  std::size_t largest_tree = 0;
  double longest = 0.0;
  for (const double slope : {0.005, 0.01, 0.02, 0.03}) {
    for (const std::size_t tokens : {10U, 40U, 100U, 400U}) {
      const Unlucky unlucky = all_rejected(slope, tokens);
      const auto plainly = static_cast<double>(tokens);
      EXPECT_LE(unlucky.seconds, std::max(1.03 * plainly, plainly + 3.0) + 1e-9)
          << tokens << " tokens, slope " << slope;
      largest_tree = std::max(largest_tree, unlucky.largest_tree);
      longest = std::max(longest, unlucky.seconds / plainly);
    }
  }
  EXPECT_GE(largest_tree, 16U) << "it drafted several sequences";
  EXPECT_GT(longest, 1.02) << "and lost by it";
}

}  // namespace
}  // namespace spectr
