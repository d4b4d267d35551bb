// Drafts that continue while their model is confident preserve the distribution.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string_view>

#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/tree_drafter.h"
#include "spectr/decode/verify/conditional_verifier.h"
#include "spectr/decode/verify/plan_walk.h"
#include "spectr/transport/plans.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;

/// Returns a decoder of trees that stop, with a plan at every node or conditional verification.
Decoder confident(RecycledVector<std::size_t> factors, std::string_view plan, double min_reach) {
  if (plan == "conditional") {
    return {std::make_unique<TreeDrafter>(std::move(factors), Drafting::independent, std::nullopt, min_reach),
            std::make_unique<ConditionalVerifier>(ConditionalVerifier::independent)};
  }
  const PlanRule& rule = *value_of(find_plan(plan));
  return {std::make_unique<TreeDrafter>(std::move(factors), rule.drafting, std::nullopt, min_reach),
          std::make_unique<PlanWalk>(rule, PlanOptions{})};
}

MethodDistribution distribution_of(const TabularPair& pair, Decoder decoder,
                                   const EnumerationSettings& settings = {}) {
  OwnedModels models = pair.models("spectr", decoder, settings.warp, settings.horizon);
  const Token prompt[] = {settings.start};
  const EnumerationOptions enumeration{.horizon = settings.horizon, .ends = settings.ends};
  DecoderDistribution exact = value_of(enumerate_decoder(decoder, models, prompt, enumeration));
  const auto target = value_of(enumerate_target(models, prompt, enumeration));
  return {total_variation(exact.distribution, target), std::move(exact)};
}

TEST(ConfidentTree, IsLosslessWhereverItStops) {
  for (const std::uint32_t seed : {1u, 2u}) {
    const TabularPair pair = TabularPair::random(3, 4, seed);
    for (const std::string_view plan : {"k-seq", "optimal", "recursive", "recursive-wor", "conditional"}) {
      double before = 0.0;
      for (const double min_reach : {0.0, 0.3, 0.5, 0.7, 1.0}) {
        const auto found = distribution_of(pair, confident({2, 1, 1}, plan, min_reach));
        EXPECT_LE(found.tv, 1e-12) << plan << ", " << min_reach;
        EXPECT_GE(found.exact.expected_target_calls, before - 1e-12) << plan << ", " << min_reach;
        before = found.exact.expected_target_calls;
      }
    }
  }
}

TEST(ConfidentTree, IsLosslessBehindFiltersWithEndsAndLimits) {
  WarpOptions cut = WarpOptions::none();
  cut.top_k = 2;
  cut.temperature = 0.7;
  WarpOptions greedy = WarpOptions::none();
  greedy.temperature = 0.0;
  const TabularPair pair = TabularPair::random(3, 4, 7);
  for (const WarpOptions& warp : {cut, greedy}) {
    for (const std::size_t horizon : {1U, 2U, 4U}) {
      for (const double min_reach : {0.0, 0.4, 0.6}) {
        for (const std::string_view plan : {"optimal", "conditional"}) {
          const EnumerationSettings settings{.horizon = horizon, .ends = {1}, .warp = warp};
          const auto found = distribution_of(pair, confident({2, 1, 1}, plan, min_reach), settings);
          EXPECT_LE(found.tv, 1e-12) << plan << ", " << warp.temperature << ", " << horizon << ", "
                                     << min_reach;
        }
      }
    }
  }
}

TEST(ConfidentTree, StopsAtSomePlacesAndNotAtOthers) {
  const TabularPair pair = TabularPair::random(3, 4, 1);
  const auto calls = [&](double min_reach) {
    return distribution_of(pair, confident({1, 1, 1}, "maximal", min_reach)).exact.expected_target_calls;
  };
  EXPECT_LT(calls(0.0), calls(0.4));
  EXPECT_LT(calls(0.4), calls(1.0));
}

}  // namespace
}  // namespace spectr
