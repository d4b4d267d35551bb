#include "spectr/decode/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/counter_random.h"
#include "tests/support/chi_square.h"
#include "tests/support/once_only_choices.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;

/// A method on a pair of tables, ready to generate.
class Runner {
 public:
  Runner(TabularPair pair, std::string_view method, const MethodOptions& options,
         const WarpOptions& warp = WarpOptions::none())
      : pair_(std::move(pair)),
        decoder_(decoder_of(method, options)),
        sessions_(pair_.models(method, decoder_, warp, 64)),
        models_(sessions_) {}

  Models& models() { return *models_; }
  /// Replaces the target's session by one for a sequence of this length.
  void limit_target(std::size_t context) {
    target_ = pair_.target.start(context, 64).value();
    models_.emplace(*target_, sessions_.drafts, sessions_.warp);
  }
  /// Replaces the draft models' sessions by ones for sequences of this length.
  void limit_drafts(std::size_t context) {
    for (Session*& draft : models_->drafts)
      draft = drafts_.emplace_back(pair_.drafts[0].start(context, 64).value()).get();
  }

  Result<Generation> operator()(Choices& choices, const GenerateOptions& options,
                                const std::vector<Token>& prompt = {0}, const BlockListener& listener = {}) {
    models_->target.rewind(0);
    for (Session* draft : models_->drafts) draft->rewind(0);
    return generate(decoder_, *models_, prompt, options, choices, listener);
  }
  Generation operator()(std::uint64_t seed, const GenerateOptions& options,
                        const std::vector<Token>& prompt = {0}, const BlockListener& listener = {}) {
    CounterRandom choices(seed);
    return (*this)(choices, options, prompt, listener).value();
  }

 private:
  TabularPair pair_;
  Decoder decoder_;
  OwnedModels sessions_;
  std::unique_ptr<Session> target_;
  std::vector<std::unique_ptr<Session>> drafts_;
  std::optional<Models> models_;
};

/// Returns every method with small settings, for up to two draft models.
std::vector<std::pair<std::string, MethodOptions>> all_methods() {
  std::vector<std::pair<std::string, MethodOptions>> all;
  for (const MethodRule& rule : method_rules()) {
    MethodOptions options = options_of(3, 3);
    options.epsilon = 0.1;
    options.beams = 3;
    options.bild_fallback = 0.4;
    options.costs = costs_of(2);
    if (rule.name == "tree") options.tree = {2, 2, 1};
    all.emplace_back(rule.name, options);
    if (rule.name == "traversal" || rule.name == "conditional") {
      options.tree = {2, 2, 1};
      all.emplace_back(rule.name, options);
    }
    for (const char* plan : {"recursive", "recursive-wor", "str++", "optimal", "epsilon-opt"}) {
      if (rule.name != "spectr") continue;
      options.plan = plan;
      options.drafts = plan == std::string_view("epsilon-opt") ? 1 : 3;
      all.emplace_back(rule.name, options);
    }
  }
  return all;
}

TEST(Decoders, TakeAsManyDraftModelsAsTheirMethodWorksWith) {
  for (const MethodRule& rule : method_rules()) {
    MethodOptions options = options_of(2, 2);
    options.costs = costs_of(1);
    if (rule.reads(Setting::tree)) options.tree = {2, 1};
    Decoder decoder = decoder_of(rule.name, options);
    const auto step = [&](std::size_t drafts) {
      const TabularPair pair = TabularPair::random(3, 4, 1, drafts);
      std::vector<const LanguageModel*> drafting;
      for (const TabularModel& draft : pair.drafts) drafting.push_back(&draft);
      OwnedModels models =
          OwnedModels::start(pair.target, drafting, Warp::make(WarpOptions::none()).value(), 0, 64).value();
      CounterRandom choices(1);
      const std::vector<Token> sequence = {0};
      std::ignore = decoder.step({sequence, 4, 0, {}}, models, choices);
    };
    if (rule.models.min > 0) {
      EXPECT_THROW(step(rule.models.min - 1), BrokenContract) << rule.name;
    }
    if (rule.models.max < 3) {
      EXPECT_THROW(step(rule.models.max + 1), BrokenContract) << rule.name;
    }
    EXPECT_NO_THROW(step(std::max<std::size_t>(rule.models.min, 1) * (rule.models.max > 0 ? 1 : 0)))
        << rule.name;
  }
}

TEST(Generate, NoMethodUsesARandomNumberTwice) {
  const TabularPair pair = TabularPair::random(3, 40, 51, 2);
  for (const auto& [method, options] : all_methods()) {
    Runner run(pair, method, options);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      OnceOnlyChoices choices(seed);
      ASSERT_TRUE(run(choices, {.limit = 20}));
      ASSERT_TRUE(choices.entered_again().empty())
          << method << " " << options.plan.value_or("") << " enters block "
          << choices.entered_again()[0].block << ", node " << choices.entered_again()[0].node << ", position "
          << choices.entered_again()[0].position << " again";
      ASSERT_EQ(choices.drawn_nowhere(), 0u) << method;
    }
  }
}

TEST(Generate, EmitsExactlyTheLimit) {
  const TabularPair pair = TabularPair::random(3, 40, 52, 2);
  for (const auto& [method, options] : all_methods()) {
    Runner run(pair, method, options);
    for (std::size_t limit : {0u, 1u, 2u, 3u, 7u, 16u}) {
      const Generation out = run(limit, {.limit = limit});
      EXPECT_EQ(out.tokens.size(), limit) << method;
      EXPECT_EQ(out.sources.size(), limit) << method;
      EXPECT_EQ(out.statistics.generated(), limit) << method;
      EXPECT_EQ(out.stop, StopReason::limit) << method;
    }
  }
}

TEST(Generate, StopsAfterAnEndTokenAndEmitsIt) {
  const TabularPair pair = TabularPair::random(3, 40, 53, 2);
  for (const auto& [method, options] : all_methods()) {
    Runner run(pair, method, options);
    int ended = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const Generation out = run(seed, {.limit = 12, .ends = {1}});
      const auto first = std::ranges::find(out.tokens, 1);
      if (out.stop == StopReason::eos) {
        ++ended;
        EXPECT_EQ(first, out.tokens.end() - 1) << method;
      } else {
        EXPECT_EQ(first, out.tokens.end()) << method;
        EXPECT_EQ(out.tokens.size(), 12u) << method;
      }
    }
    EXPECT_GT(ended, 0) << method;
  }
}

TEST(Generate, AnEndTokenAtTheLimitIsAnEnd) {
  const double always[] = {0.0, 1.0};
  Runner run(TabularPair::constant(always, always), "spectr", options_of(2, 3));
  const Generation out = run(1, {.limit = 1, .ends = {1}});
  EXPECT_EQ(out.stop, StopReason::eos);
  EXPECT_EQ(out.tokens, std::vector<Token>{1});
}

TEST(Generate, SameSeedSameText) {
  const TabularPair pair = TabularPair::random(4, 40, 54, 2);
  for (const auto& [method, options] : all_methods()) {
    Runner run(pair, method, options);
    const auto first = run(7, {.limit = 30}).tokens;
    EXPECT_EQ(run(7, {.limit = 30}).tokens, first) << method;
    if (method != "mtjd") {
      EXPECT_NE(run(8, {.limit = 30}).tokens, first) << method;
    }
  }
}

TEST(Generate, TheListenerSeesEveryTokenOnce) {
  const TabularPair pair = TabularPair::random(4, 40, 55, 2);
  for (const auto& [method, options] : all_methods()) {
    Runner run(pair, method, options);
    std::vector<Token> seen;
    std::vector<Source> sources;
    const Generation out = run(3, {.limit = 25}, {0}, [&](const Block& block) -> std::optional<std::size_t> {
      seen.insert(seen.end(), block.tokens.begin(), block.tokens.end());
      sources.insert(sources.end(), block.sources.begin(), block.sources.end());
      return std::nullopt;
    });
    EXPECT_EQ(seen, out.tokens) << method;
    EXPECT_EQ(sources, out.sources) << method;
  }
}

TEST(Generate, TheListenerCutsTheTextWithinABlock) {
  const TabularPair pair = TabularPair::random(2, 40, 56).with_equal_draft();  // every draft is accepted
  Runner run(pair, "speculative", options_of(1, 4));
  int blocks = 0;
  const Generation out = run(3, {.limit = 50}, {0}, [&](const Block& block) -> std::optional<std::size_t> {
    EXPECT_EQ(block.tokens.size(), 5u);
    return ++blocks == 3 ? std::optional<std::size_t>(2) : std::nullopt;
  });
  EXPECT_EQ(out.stop, StopReason::word);
  EXPECT_EQ(out.tokens.size(), 12u);
  EXPECT_EQ(out.sources.size(), 12u);
  EXPECT_EQ(out.statistics.generated(), 12u);
  EXPECT_EQ(out.statistics.accepted(), 4 + 4 + 2u);
}

TEST(Generate, ThePromptMustFitTheContext) {
  const TabularPair pair = TabularPair::random(2, 4, 57);
  Runner run(pair, "speculative", options_of(1, 2));
  run.limit_target(5);
  CounterRandom choices(1);
  const auto failed = run(choices, {.limit = 4}, std::vector<Token>(6, 0));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("6 tokens"));
  EXPECT_THAT(failed.error().message, HasSubstr("5"));
  EXPECT_THROW((void)run(choices, {.limit = 4}, std::vector<Token>{}), BrokenContract);
}

TEST(Generate, TheContextEndsTheText) {
  const TabularPair pair = TabularPair::random(3, 40, 58, 2);
  for (const auto& [method, options] : all_methods()) {
    for (std::size_t context : {2u, 3u, 6u, 9u}) {
      Runner run(pair, method, options);
      run.limit_target(context);
      const Generation out = run(context, {.limit = 100}, {0, 1});
      EXPECT_EQ(out.tokens.size(), context - 2) << method;
      EXPECT_EQ(out.stop, StopReason::limit) << method;
    }
  }
}

// After the end of the draft's context, the target continues alone.
TEST(Generate, AShorterContextOfTheDraftFallsBackToPlainSteps) {
  const TabularPair pair = TabularPair::random(3, 40, 59, 2);
  for (const auto& [method, options] : all_methods()) {
    if (find_method(method).value()->models.max == 0) continue;
    Runner run(pair, method, options);
    run.limit_drafts(6);
    const Generation out = run(5, {.limit = 20}, {0, 1, 2});
    ASSERT_EQ(out.tokens.size(), 20u) << method;
    if (method == "auto") continue;  // continues with n-gram drafts
    // A text of 6 or more tokens leaves no room for a draft.
    for (std::size_t i = 4; i < 20; ++i) EXPECT_EQ(out.sources[i], Source::target) << method << " " << i;
    EXPECT_EQ(run(5, {.limit = 5}, std::vector<Token>(9, 1)).statistics.drafted(), 0u) << method;
  }
}

TEST(Generate, CountsWhatItDoes) {
  const TabularPair pair = TabularPair::random(3, 40, 60).with_equal_draft();
  Runner run(pair, "spectr", options_of(3, 4));
  const Generation out = run(1, {.limit = 15});
  EXPECT_EQ(out.statistics.target_calls(), 3u);
  EXPECT_EQ(out.statistics.drafted(), 36u);  // three blocks of 3 · 4
  EXPECT_EQ(out.statistics.accepted(), 12u);
  EXPECT_DOUBLE_EQ(out.statistics.block_efficiency(), 5.0);
  EXPECT_THAT(out.statistics.acceptance_per_position(), testing::ElementsAre(1.0, 1.0, 1.0, 1.0));
  EXPECT_EQ(out.statistics.bias_tv(), 0.0);
  const std::vector<double> never = {1, 0, 0}, always = {0, 0, 1};
  Runner in_vain(TabularPair::constant(never, always), "spectr", options_of(3, 4));
  EXPECT_THAT(in_vain(1, {.limit = 5}).statistics.acceptance_per_position(),
              testing::ElementsAre(0, 0, 0, 0));
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_EQ(out.sources[i], i % 5 == 4 ? Source::bonus : Source::draft) << i;
  }
}

/// Choices keyed by position and purpose only, as if each position were sampled only once in a run.
class KeyedByPosition final : public Choices {
 public:
  explicit KeyedByPosition(std::uint64_t seed) : random_(seed) {}
  std::size_t draw(std::span<const double> weights) override { return random_.draw(weights); }
  void enter(const Place& place) override {
    random_.enter({.position = place.position, .purpose = place.purpose});
  }

 private:
  CounterRandom random_;
};

/// Returns the p-value of six-token completions of several blocks against the target's exact distribution.
template <class Generator>
double p_value_over_blocks(std::string_view method, const MethodOptions& options, std::uint64_t completions) {
  const TabularPair pair = TabularPair::random(2, 6, 61);
  constexpr std::size_t length = 6;
  Runner run(pair, method, options);
  const Token prompt[] = {0};
  const auto target = enumerate_target(run.models(), prompt, {.horizon = length}).value();
  std::map<std::vector<Token>, std::uint64_t> found;
  for (std::uint64_t seed = 0; seed < completions; ++seed) {
    Generator choices(seed);
    ++found[run(choices, {.limit = length}).value().tokens];
  }
  std::vector<double> expected;
  std::vector<std::uint64_t> counts;
  for (const auto& [output, p] : target) {
    expected.push_back(p);
    counts.push_back(found[output]);
  }
  return chi_square_p_value(counts, expected);
}

// Detects reuse of random numbers, which the enumerator cannot see. The false-alarm rate is 1e-6 each.
TEST(Generate, TextsOfSeveralBlocksHaveTheTargetsDistribution) {
  EXPECT_GT(p_value_over_blocks<CounterRandom>("block", options_of(1, 3), 20'000), 1e-6);
  EXPECT_GT(p_value_over_blocks<CounterRandom>("traversal", options_of(2, 2), 20'000), 1e-6);
  EXPECT_GT(p_value_over_blocks<CounterRandom>("conditional", options_of(2, 2), 20'000), 1e-6);
  EXPECT_GT(p_value_over_blocks<CounterRandom>("spectr", options_of(2, 2), 20'000), 1e-6);
}

TEST(Generate, KeysByPositionAloneWouldBeFoundOut) {
  EXPECT_LT(p_value_over_blocks<KeyedByPosition>("block", options_of(1, 3), 20'000), 1e-6);
}

}  // namespace
}  // namespace spectr
