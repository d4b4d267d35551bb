// Decoding allocates no memory once its loop has seen its sizes: distributions, plans and drafts
// reuse memory that was released before.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/base/recycled.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"
#include "tests/support/allocations.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

struct Case {
  std::string_view method;
  std::optional<std::string> plan = std::nullopt;
};

WarpOptions with_penalties() {
  WarpOptions options;
  options.repeat_penalty = 1.1;
  options.frequency_penalty = 0.1;
  return options;
}

/// Costs of an expensive target and a cheap draft, with which drafting pays off.
std::shared_ptr<const Costs> costs() {
  return std::make_shared<const Costs>(
      Costs{CostCurve({{1, 1.0}, {64, 1.5}}), {{CostCurve({{1, 0.05}, {64, 0.1}})}}, {}});
}

class Loop : public testing::Test {
 protected:
  /// Returns the number of allocations between the first and the last block of a completion.
  std::size_t asked(const Case& c, const WarpOptions& warp) {
    MethodOptions options{.plan = c.plan, .drafts = 4, .length = 4, .costs = costs()};
    if (c.method == "tree") options.tree = {3, 2, 1};
    const MethodRule& rule = *find_method(c.method).value();
    Decoder decoder = make_decoder(rule, options).value();
    const LanguageModel* const drafting[] = {&*draft_};
    OwnedModels models = OwnedModels::start(*target_, std::span(drafting).first(rule.models.max == 0 ? 0 : 1),
                                            Warp::make(warp).value(), 200, decoder.max_nodes(tokens))
                             .value();
    std::size_t first = 0, last = 0;
    CounterRandom choices(1);
    const std::vector<Token> prompt = {1, 40, 50, 60, 40, 50};
    const auto generation = generate(decoder, models, prompt, {.limit = tokens}, choices,
                                     [&](const Block&) -> std::optional<std::size_t> {
                                       last = test::allocations();
                                       if (first == 0) first = last;
                                       return std::nullopt;
                                     });
    EXPECT_TRUE(generation) << c.method;
    EXPECT_EQ(generation->tokens.size(), tokens);
    return last - first;
  }

  static constexpr std::size_t tokens = 48;
  test::RealModel target_ = test::RealModel::load(test::bundled_target);
  test::RealModel draft_ = test::RealModel::load(test::bundled_draft);
};

TEST_F(Loop, AsksForNoMemory) {
  if (!recycled::keeps()) GTEST_SKIP() << "this build keeps no memory";
  for (const Case& c :
       {Case{"plain"}, Case{"speculative"}, Case{"spectr"}, Case{"spectr", "optimal"},
        Case{"spectr", "recursive"}, Case{"tree"}, Case{"batch"}, Case{"specinfer"}, Case{"block"},
        Case{"traversal"}, Case{"mtad"}, Case{"mtjd"}, Case{"bild"}, Case{"biased-opt"}, Case{"biased-uno"},
        Case{"ngram"}, Case{"suffix"}, Case{"auto"}}) {
    for (const WarpOptions& warp : {WarpOptions{}, WarpOptions::none(), with_penalties()}) {
      asked(c, warp);  // warm-up
      EXPECT_EQ(asked(c, warp), 0u) << c.method << ' ' << c.plan.value_or("");
    }
  }
}

}  // namespace
}  // namespace spectr
