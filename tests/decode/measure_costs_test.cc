// Measurements of transformers that method auto uses.
#include "spectr/decode/costs/measure_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/base/counter_random.h"
#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"
#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;
using testing::AllOf;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;

TEST(MeasureCosts, MeasuresAllThatAutoGoesBy) {
  const RealModel target = RealModel::load(tiny_target), draft = RealModel::load(tiny_draft);
  const LanguageModel* const drafts[] = {draft.transformer.get()};
  const auto measured = measure_costs(*target, drafts);
  ASSERT_TRUE(measured) << measured.error().message;
  const Costs& costs = measured->costs;
  ASSERT_EQ(costs.drafts.size(), 1u);
  EXPECT_GT(costs.drafts.front().reading.value_or(0.0), 0.0);
  for (const CostCurve& passes : {costs.target, costs.drafts.front().passes}) {
    EXPECT_EQ(passes.points().front().rows, 1u);
    EXPECT_EQ(passes.points().back().rows, AutoParams::max_rows);
    EXPECT_EQ(passes.attention().behind, 64u);
  }
  const SelectCosts& select = costs.select;
  EXPECT_THAT(
      (std::vector{select.distribution, select.filtered, select.likelihood, select.one, select.several}),
      Each(Gt(0.0)));
}

TEST(MeasureCosts, NeedsNoDraftModel) {
  const RealModel target = RealModel::load(tiny_target);
  const auto measured = measure_costs(*target, {});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_TRUE(measured->costs.drafts.empty());
  EXPECT_GT(measured->costs.select.several, 0.0);

  Decoder decoder =
      make_decoder(**find_method("auto"), {.costs = std::make_shared<const Costs>(measured->costs)}).value();
  OwnedModels models =
      OwnedModels::start(*target, {}, Warp::make(WarpOptions::none()).value(), 0, decoder.max_nodes(8))
          .value();
  CounterRandom choices(1);
  const auto prompt = target.tokenizer->encode("Once upon a time");
  EXPECT_EQ(generate(decoder, models, prompt, {.limit = 8}, choices).value().tokens.size(), 8u);
}

TEST(MeasureCosts, RefusesAModelWhoseContextHoldsOneToken) {
  std::ifstream file(*find_data(tiny_draft), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::string_view key = "llama.context_length";
  const std::uint32_t one = 1;
  std::memcpy(bytes.data() + bytes.find(key) + key.size() + sizeof(std::uint32_t), &one, sizeof one);
  const RealModel target = RealModel::load(tiny_target);
  const auto draft = Transformer::load(Gguf::parse(std::as_bytes(std::span(bytes)), "short.gguf").value(),
                                       std::make_shared<CpuBackend>(*target.pool));
  ASSERT_TRUE(draft) << draft.error().message;
  const LanguageModel* const drafts[] = {draft->get()};
  const auto measured = measure_costs(*target, drafts);
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message,
              AllOf(HasSubstr("has a context of 1 tokens"), HasSubstr("cannot be measured")));
}

}  // namespace
}  // namespace spectr
