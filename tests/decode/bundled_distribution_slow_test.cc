// The distribution of the first two tokens of every lossless method on the bundled pair, with the real
// generator: a chi-square test of each against the target's exact distribution.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"
#include "spectr/transport/plans.h"
#include "tests/support/chi_square.h"
#include "tests/support/memoising_model.h"
#include "tests/support/real_model.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

constexpr std::uint64_t completions = 4000;
constexpr double false_alarm = 1e-6;  // per method and plan

class BundledDistribution : public testing::Test {
 protected:
  RealModel target_ = RealModel::load(bundled_target, 1);
  RealModel draft_ = RealModel::load(bundled_draft, 1);
  MemoisingModel target_rows_{*target_}, draft_rows_{*draft_};

  double p_value(std::string_view method, const MethodOptions& options, std::size_t drafts = 1) {
    const MethodRule& rule = *find_method(method).value();
    Decoder decoder = make_decoder(rule, options).value();
    WarpOptions warp = WarpOptions::none();
    warp.top_k = 8;
    const std::vector<const LanguageModel*> drafting(std::min(rule.models.max, drafts), &draft_rows_);
    OwnedModels models = OwnedModels::start(target_rows_, drafting, Warp::make(warp).value(), 64, 1).value();
    const auto prompt = target_.tokenizer->encode("One day, a girl saw a");
    const auto exact = enumerate_target(models, prompt, {.horizon = 2}).value();
    std::map<std::vector<Token>, std::uint64_t> found;
    for (std::uint64_t seed = 0; seed < completions; ++seed) {
      CounterRandom choices(seed);
      ++found[generate(decoder, models, prompt, {.limit = 2}, choices).value().tokens];
    }
    std::vector<double> expected;
    std::vector<std::uint64_t> counts;
    for (const auto& [output, p] : exact) {
      expected.push_back(p);
      counts.push_back(found[output]);
      found.erase(output);
    }
    if (!found.empty()) return 0.0;  // an output with probability 0 under the target
    // The prompt with and without its last token, and up to two tokens that either model can propose.
    EXPECT_LE(target_rows_.texts(), 2u + 16 + 16 * 16);
    return chi_square_p_value(counts, expected);
  }
};

TEST_F(BundledDistribution, IsTheTargetsForEveryLosslessMethod) {
  for (const MethodRule& rule : method_rules()) {
    if (!rule.lossless) continue;
    MethodOptions options = options_of(3, 2);
    if (rule.name == "tree") options.tree = {2, 2};
    const std::size_t drafts = rule.models.max > 1 ? 2 : 1;
    options.costs = costs_of(drafts);
    EXPECT_GT(p_value(rule.name, options, drafts), false_alarm) << rule.name;
  }
}

TEST_F(BundledDistribution, IsTheTargetsForEveryLosslessPlan) {
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless || rule.name == "k-seq") continue;  // spectr's own plan is tested above
    MethodOptions options = options_of(rule.max_tuples > 0.0 ? 2 : 3, 2);
    options.plan = std::string(rule.name);
    EXPECT_GT(p_value("spectr", options), false_alarm) << rule.name;
  }
}

// Checks the test itself: an over-acceptance of 0.1 is detected.
TEST_F(BundledDistribution, ABiasedMethodIsFoundOut) {
  MethodOptions options = options_of(1, 2);
  options.epsilon = 0.1;
  EXPECT_LT(p_value("biased-opt", options), false_alarm);
}

}  // namespace
}  // namespace spectr
