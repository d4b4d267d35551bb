// Every lossless method has the target's distribution: the total variation of whole outputs
// is at most 1e-12, by enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "spectr/transport/plans.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

constexpr double rounding = 1e-12;

void expect_exact(std::string_view method, std::string_view plan, double max, std::size_t max_drafts = 3) {
  std::uint32_t seed = 100;
  for (const Shape& s : shapes(0, max, max_drafts)) {
    const TabularPair pair = TabularPair::random(s.vocabulary, 4, ++seed);
    const MethodDistribution found = method_distribution(pair, method, options_of(s.drafts, s.length, plan));
    EXPECT_LE(found.tv, rounding) << method << " " << plan << ", " << s.text();
  }
}

TEST(Exactness, PlainHasTheTargetsDistribution) {
  expect_exact("plain", "", 729, 1);
}
TEST(Exactness, SpeculativeHasTheTargetsDistribution) {
  expect_exact("speculative", "", 729, 1);
}
TEST(Exactness, KSeqHasTheTargetsDistribution) {
  expect_exact("spectr", "k-seq", 729);
}
TEST(Exactness, RecursiveRejectionHasTheTargetsDistribution) {
  expect_exact("spectr", "recursive", 729);
}
TEST(Exactness, TheOptimalPlanHasTheTargetsDistribution) {
  expect_exact("spectr", "optimal", 729);
}
// Plans by linear programs solve one for every node of every outcome.
TEST(Exactness, EveryPlanHasTheTargetsDistribution) {
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless) continue;
    expect_exact("spectr", rule.name, 27);
  }
}
TEST(Exactness, BatchHasTheTargetsDistribution) {
  expect_exact("batch", "", 729);
}
TEST(Exactness, BlockHasTheTargetsDistribution) {
  expect_exact("block", "", 729, 1);
}
TEST(Exactness, TraversalHasTheTargetsDistribution) {
  expect_exact("traversal", "", 729);
}

TEST(Exactness, ConditionalHasTheTargetsDistribution) {
  expect_exact("conditional", "", 729);
}
TEST(Exactness, UniverHasTheTargetsDistribution) {
  expect_exact("univer", "", 729);
}
TEST(Exactness, GreedyBlockHasTheTargetsDistribution) {
  expect_exact("gbv", "", 729);
}

TEST(Exactness, NgramHasTheTargetsDistribution) {
  for (std::size_t v : {2u, 3u}) {
    for (std::size_t order : {1u, 2u, 3u}) {
      MethodOptions options = options_of(1, 2);
      options.ngram = order;
      EXPECT_LE(method_distribution(TabularPair::random(v, 6, 3), "ngram", options, {.horizon = 6}).tv,
                rounding);
    }
  }
}

/// A method with a small draft, for `models` draft models.
struct Small {
  std::string_view method;
  MethodOptions options;
  std::size_t models;

  std::string text() const {
    return fmt::format("{} {}{}, K {}, L {}, {} draft models", method, options.plan.value_or(""),
                       options.tree.empty() ? "" : " of a tree", options.drafts, options.length, models);
  }
};

/// Returns the plans that a method accepts, or an empty name if it has no choice of plans.
std::vector<std::string_view> plans_of(const MethodRule& method) {
  if (method.plan.empty()) return {""};
  std::vector<std::string_view> plans;
  for (const PlanRule& plan : plan_rules()) {
    const bool takes_drafts = method.models.max == 1 || plan.several_distributions;
    if (plan.lossless && takes_drafts) plans.push_back(plan.name);
  }
  return plans;
}

/// Returns every lossless method of the table, with every plan and up to two draft models.
std::vector<Small> all_small() {
  std::vector<Small> all;
  for (const MethodRule& method : method_rules()) {
    if (!method.lossless) continue;
    for (const std::string_view plan : plans_of(method)) {
      // These solve a linear program per node of each outcome, so their drafts have one level.
      const auto rule = find_plan(plan);
      const bool program = rule && (*rule)->max_tuples > 0.0;
      const bool dear = plan == "str+" || program || (plan == "str++" && method.name != "spectr");
      for (std::size_t models = method.models.min; models <= std::min<std::size_t>(2, method.models.max);
           ++models) {
        MethodOptions options = options_of(2, dear ? 1 : 2, plan);
        options.costs = costs_of(models);
        const bool chain =
            !method.reads(Setting::tree) && decoder_of(method.name, options).shape().drafts == 1;
        if (chain) options.length = 3;
        if (method.name != "tree") all.push_back({method.name, options, models});
        if (method.name == "spectr" && !dear) {
          all.push_back({method.name, options_of(3, 1, plan), models});
        }
        if (!method.reads(Setting::tree)) continue;
        options.tree = {dear || plan == method.plan ? 2u : 1u};
        if (!dear) options.tree.push_back(2);
        all.push_back({method.name, options, models});
      }
    }
  }
  return all;
}

TEST(Exactness, IsAskedOfEveryLosslessMethodAndPlan) {
  std::set<std::string, std::less<>> methods, plans = {"maximal"};  // the implicit plan of speculative
  for (const Small& s : all_small()) {
    methods.emplace(s.method);
    plans.insert(s.options.plan.value_or("maximal"));
  }
  for (const MethodRule& m : method_rules()) EXPECT_EQ(methods.contains(m.name), m.lossless) << m.name;
  for (const PlanRule& p : plan_rules()) EXPECT_EQ(plans.contains(p.name), p.lossless) << p.name;
}

/// Tests all methods that take no more draft models than the pair has.
void expect_all_exact(const TabularPair& pair, const EnumerationSettings& settings, const std::string& what) {
  static const std::vector<Small> all = all_small();
  for (const Small& s : all) {
    if (s.models > pair.drafts.size()) continue;
    const auto first = pair.drafts.begin();
    const TabularPair part{{first, first + static_cast<std::ptrdiff_t>(s.models)}, pair.target};
    const MethodDistribution found = method_distribution(part, s.method, s.options, settings);
    EXPECT_LE(found.tv, rounding) << s.text() << ", " << what;
  }
}

TEST(Exactness, HoldsWithShortAndDisjointSupports) {
  for (std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    expect_all_exact(TabularPair::sparse(3, 4, seed, 2), {}, fmt::format("sparse tables of seed {}", seed));
  }
  const double p[] = {0.5, 0.5, 0.0, 0.0}, q[] = {0.0, 0.0, 0.25, 0.75}, point[] = {0.0, 1.0, 0.0, 0.0};
  expect_all_exact(TabularPair::constant(p, q, 2), {.horizon = 3}, "disjoint supports");
  expect_all_exact(TabularPair::constant(p, point, 2), {.horizon = 3}, "a point within the draft's support");
  expect_all_exact(TabularPair::constant(point, q, 2), {.horizon = 3},
                   "a point outside the target's support");
}

// The draft has the zeros of a shortlist, as if it computed the logits of some tokens only.
TEST(Exactness, HoldsWhereTheDraftLacksWhatTheTargetLikesMost) {
  const double q[] = {0.1, 0.6, 0.3};
  const double shortlist[] = {0.25, 0.0, 0.75}, single[] = {1.0, 0.0, 0.0};
  expect_all_exact(TabularPair::constant(shortlist, q, 2), {}, "a shortlist without the target's mode");
  expect_all_exact(TabularPair::constant(single, q, 2), {}, "a shortlist of one token");
}

TEST(Exactness, HoldsWhereDraftAndTargetAreEqual) {
  expect_all_exact(TabularPair::random(3, 4, 5).with_equal_draft(), {}, "p = q");
}

// Files of one family differ in the number of unused tokens at the end of their vocabularies.
TEST(Exactness, HoldsWhereModelsHaveOtherTokensThanTheTarget) {
  const auto drafts_of = [](std::size_t v) { return TabularPair::random(v, 3, 13).drafts.front(); };
  const TabularModel target = TabularPair::random(3, 3, 14).target;
  const auto expect = [&](std::size_t first, std::size_t second, Token start, const char* what) {
    expect_all_exact({{drafts_of(first), drafts_of(second)}, target}, {.horizon = 3, .start = start}, what);
  };
  expect(2, 2, 0, "drafts of fewer tokens");
  expect(4, 4, 0, "drafts of more tokens");
  expect(2, 4, 0, "a draft of fewer and one of more tokens");
  expect(4, 2, 2, "a start that a draft lacks");
}

// One sequence of two models is drafted by the first, so it may have tokens that the second lacks.
TEST(Exactness, AModelThatDrawsNothingHoldsNobodyUp) {
  const auto drafts_of = [](std::size_t v) { return TabularPair::random(v, 3, 13).drafts.front(); };
  const TabularPair pair = {{drafts_of(3), drafts_of(2)}, TabularPair::random(3, 3, 14).target};
  const MethodDistribution found =
      method_distribution(pair, "specinfer", options_of(1, 2), {.horizon = 3, .start = 2});
  EXPECT_LE(found.tv, 1e-12);
  EXPECT_LT(found.exact.expected_target_calls, 2.9);
}

// For a token that the draft hardly ever draws, q/p overflows to infinity. After an
// excluded token it must not count.
TEST(Exactness, NeverAcceptsWhatTheTargetExcludes) {
  const double p[] = {0.5, 0.5, 1e-310}, q[] = {0.5, 0.0, 0.5};
  const TabularPair pair = TabularPair::constant(p, q);
  for (const std::string_view method : {"speculative", "spectr", "block", "traversal"}) {
    const MethodDistribution found = method_distribution(pair, method, options_of(1, 2), {.horizon = 2});
    for (const auto& [output, probability] : found.exact.distribution) {
      if (std::ranges::count(output, 1) == 0) continue;
      EXPECT_EQ(probability, 0.0) << method;
    }
  }
}

TEST(Exactness, HoldsWithWarping) {
  const TabularPair pair = TabularPair::random(4, 4, 8, 2);
  WarpOptions warp = WarpOptions::none();
  warp.temperature = 0.6;
  warp.top_k = 3;
  expect_all_exact(pair, {.horizon = 3, .warp = warp}, "temperature 0.6, top-k 3");
  warp.temperature = 1.7;
  warp.top_k = 0;
  warp.top_p = 0.6;
  expect_all_exact(pair, {.horizon = 3, .warp = warp}, "temperature 1.7, top-p 0.6");
  warp.top_p = 1.0;
  warp.min_p = 0.5;
  expect_all_exact(pair, {.horizon = 3, .warp = warp}, "min-p 0.5");
  warp = WarpOptions::none();
  warp.temperature = 0.0;
  expect_all_exact(pair, {.warp = warp}, "greedy");
}

// Penalties depend on the draft's own path, so distributions depend on the whole sequence.
TEST(Exactness, HoldsWithPenalties) {
  WarpOptions warp = WarpOptions::none();
  warp.repeat_penalty = 1.6;
  warp.frequency_penalty = 0.3;
  warp.repeat_last_n = 3;
  expect_all_exact(TabularPair::random(2, 4, 9, 2), {.warp = warp}, "penalties");
}

TEST(Exactness, HoldsWithEverySamplerInAnyOrder) {
  WarpOptions warp = WarpOptions::none();
  warp.dry = {.multiplier = 0.8, .base = 1.5, .allowed_length = 1, .penalty_last_n = 3};
  expect_all_exact(TabularPair::random(2, 4, 21, 2), {.warp = warp}, "DRY");
  warp.xtc_probability = 0.4;
  warp.xtc_threshold = 0.2;
  expect_all_exact(TabularPair::random(3, 4, 22, 2), {.horizon = 3, .warp = warp}, "DRY and XTC");
  warp.temperature = 0.0;
  expect_all_exact(TabularPair::random(3, 4, 23, 2), {.horizon = 3, .warp = warp}, "XTC of the likeliest");
  warp = WarpOptions::none();
  warp.typical_p = 0.7;
  warp.top_n_sigma = 1.2;
  warp.dynatemp_range = 0.5;
  warp.xtc_probability = 0.5;
  warp.repeat_penalty = 1.5;
  using enum Sampler;
  warp.samplers = {temperature, xtc, penalties, top_n_sigma, typ_p};
  expect_all_exact(TabularPair::random(3, 4, 24, 2), {.horizon = 3, .warp = warp}, "another order");
}

// The state of a feedback follows a draft's path, and equals the target's own at the start of each block.
// Whole runs are enumerated, so they are short.
TEST(Exactness, HoldsWithAFeedback) {
  const TabularPair pair = TabularPair::random(2, 3, 25, 2), larger = TabularPair::random(3, 3, 26);
  WarpOptions mirostat1 = WarpOptions::none(), mirostat2 = mirostat1, adaptive = mirostat1;
  mirostat1.mirostat = 1;
  mirostat1.mirostat_tau = 0.3;
  mirostat2.mirostat = 2;
  mirostat2.mirostat_tau = 0.7;
  mirostat1.mirostat_eta = mirostat2.mirostat_eta = 0.9;
  adaptive.adaptive_target = 0.3;
  adaptive.adaptive_decay = 0.5;
  adaptive.samplers = {Sampler::adaptive_p};
  const auto run = [&](std::string_view method, const WarpOptions& warp) {
    return method_distribution(larger, method, options_of(1, 2), {.horizon = 3, .warp = warp});
  };
  const auto unchanged = run("plain", WarpOptions::none()).exact;
  for (const WarpOptions& warp : {mirostat1, mirostat2, adaptive}) {
    expect_all_exact(pair, {.horizon = 2, .warp = warp}, fmt::format("mirostat {}", warp.mirostat));
    const MethodDistribution drafted = run("speculative", warp);
    EXPECT_LE(drafted.tv, rounding);
    EXPECT_GT(total_variation(drafted.exact.distribution, unchanged.distribution), 0.01);
  }
}

/// Forbids the previous token and, after three tokens, all but the first.
class Rhythm final : public LogitRule {
 public:
  Result<void> apply(std::span<const Token> sequence, std::span<double> logits) const override {
    for (std::size_t token = 0; token < logits.size(); ++token) {
      const bool is_allowed =
          sequence.size() == 3 ? token == 0 : static_cast<Token>(token) != sequence.back();
      if (!is_allowed) logits[token] = -std::numeric_limits<double>::infinity();
    }
    return {};
  }
};

TEST(Exactness, HoldsWithARule) {
  const auto rule = std::make_shared<Rhythm>();
  WarpOptions warp = WarpOptions::none();
  for (std::uint32_t seed : {15u, 16u}) {
    const TabularPair pair = TabularPair::random(3, 4, seed, 2);
    expect_all_exact(pair, {.warp = warp, .rule = rule}, "a rule");
    // Drafts may have none of the allowed tokens.
    const TabularPair sparse{TabularPair::sparse(3, 4, seed, 2).drafts, pair.target};
    expect_all_exact(sparse, {.warp = warp, .rule = rule}, "a rule and drafts that lack tokens");
  }
  warp.temperature = 0.7;
  warp.top_k = 2;
  warp.repeat_penalty = 1.6;
  expect_all_exact(TabularPair::random(3, 4, 17, 2), {.warp = warp, .rule = rule}, "a rule and filters");
}

TEST(Exactness, ARuleIsPartOfTheTarget) {
  const TabularPair pair = TabularPair::random(3, 4, 18);
  const auto found = method_distribution(pair, "plain", options_of(1, 1),
                                         {.horizon = 3, .rule = std::make_shared<Rhythm>()});
  for (const auto& [sequence, probability] : found.exact.distribution) {
    EXPECT_NE(sequence[0], 0);
    EXPECT_NE(sequence[1], sequence[0]);
    EXPECT_EQ(sequence[2], 0);
  }
}

TEST(Exactness, HoldsWithEndTokens) {
  expect_all_exact(TabularPair::random(3, 4, 10, 2), {.ends = {1}}, "one end token");
  expect_all_exact(TabularPair::random(3, 4, 11, 2), {.ends = {0, 2}}, "two end tokens, one of them 0");
  expect_all_exact(TabularPair::sparse(3, 4, 12, 2), {.ends = {2}}, "an end token on sparse tables");
}

TEST(Exactness, HoldsWhereLimitsFallInsideABlock) {
  for (std::size_t horizon : {1u, 2u, 3u}) {
    expect_all_exact(TabularPair::random(3, 4, 13, 2), {.horizon = horizon},
                     fmt::format("horizon {}", horizon));
    expect_all_exact(TabularPair::random(2, 4, 14, 2), {.horizon = horizon, .ends = {0}},
                     fmt::format("horizon {} with an end token", horizon));
  }
}

// Traversal must keep the place of a later copy of a sibling. Dropping it gives a TV of 0.03 here.
TEST(Exactness, TraversalKeepsTheRejectionOfLaterCopies) {
  const double p[] = {0.6, 0.3, 0.1}, q[] = {0.2, 0.35, 0.45};
  for (std::size_t drafts : {2u, 3u}) {
    for (std::size_t length : {1u, 2u}) {
      const auto found =
          method_distribution(TabularPair::constant(p, q), "traversal", options_of(drafts, length));
      EXPECT_LE(found.tv, rounding) << drafts << " drafts of " << length;
    }
  }
}

TEST(Exactness, TraversalOfAChainIsBlockVerification) {
  const TabularPair pair = TabularPair::random(3, 4, 15);
  const MethodDistribution block = method_distribution(pair, "block", options_of(1, 3));
  const MethodDistribution traversal = method_distribution(pair, "traversal", options_of(1, 3));
  EXPECT_NEAR(block.exact.expected_target_calls, traversal.exact.expected_target_calls, 1e-13);
  EXPECT_NEAR(block.exact.expected_rejections, traversal.exact.expected_rejections, 1e-13);
}

// Checks the test itself: a distribution that differs from the target's is detected.
TEST(Exactness, ABiasedMethodIsFoundOut) {
  MethodOptions options = options_of(1, 2);
  options.epsilon = 0.2;
  EXPECT_GT(method_distribution(TabularPair::random(3, 4, 16), "biased-opt", options).tv, 1e-3);
}

}  // namespace
}  // namespace spectr
