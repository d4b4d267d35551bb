#include "spectr/nn/pass_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "spectr/nn/transformer_session.h"
#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;

struct Profiled {
  RealModel model = RealModel::load(bundled_target);
  PassProfile profile;
  std::unique_ptr<Session> session = model->start(0, 4, &profile).value();

  /// Scores one pass: the last token of a text of three, and two drafts after it.
  void score() {
    TokenTree tree(7);
    tree.child(TokenTree::root, 8);
    tree.child(TokenTree::root, 9);
    EXPECT_TRUE(session->score(std::vector<Token>{5, 6, 7}, tree));
  }
};

TEST(PassProfile, CountsAllWeightsAndProductsOfAPassOnce) {
  Profiled run;
  run.score();
  EXPECT_EQ(run.profile.passes(), 1u);
  EXPECT_EQ(run.profile.rows(), 5u);
  double bytes = 0.0, products = 0.0;
  for (const Operation operation : {Operation::query_key_value, Operation::attention_output,
                                    Operation::gate_up, Operation::down, Operation::head}) {
    const PassProfile::Total& total = run.profile[operation];
    EXPECT_EQ(total.calls, operation == Operation::head ? 1 : run.model->spec().layers.size())
        << name_of(operation);
    EXPECT_EQ(total.formats, "Q8_0") << name_of(operation);
    EXPECT_EQ(total.work.macs, total.work.integer_macs) << name_of(operation);
    bytes += total.work.bytes;
    products += total.work.macs;
  }
  EXPECT_EQ(bytes, static_cast<double>(run.model->weight_bytes()));
  // Rows without requested logits skip the head.
  const auto head = static_cast<double>(run.model->vocabulary() * run.model->spec().width);
  EXPECT_EQ(products, 5.0 * (static_cast<double>(run.model->macs_per_token()) - head) + 3.0 * head);
}

TEST(PassProfile, CountsTheKeysAndValuesThatRowsAttendTo) {
  Profiled run;
  run.score();
  const AttentionSpec& attention = *run.model->spec().layers.front().attention();
  const auto layers = static_cast<double>(run.model->spec().layers.size()),
             width = static_cast<double>(attention.head_dim);
  // Quantized weights imply F16 keys and values. The three tokens attend to 1, 2 and 3
  // positions, the two drafts to 4 each.
  EXPECT_EQ(run.profile[Operation::attention].work.macs,
            layers * 2.0 * width * static_cast<double>(attention.heads) * (1 + 2 + 3 + 4 + 4));
  EXPECT_EQ(run.profile[Operation::attention].work.bytes,
            layers * 2.0 * 2.0 * width * static_cast<double>(attention.kv_heads) * 5);
}

TEST(PassProfile, SumsWhatItsOperationsTook) {
  Profiled run;
  run.score();
  double all = 0.0, beside = 0.0;
  for (std::size_t i = 0; i < operation_count; ++i) {
    const PassProfile::Total& total = run.profile[static_cast<Operation>(i)];
    const bool is_done = static_cast<Operation>(i) != Operation::experts;  // dense models have none
    EXPECT_EQ(total.calls > 0, is_done) << name_of(static_cast<Operation>(i));
    all += total.seconds;
    if (total.formats.empty()) beside += total.seconds;
  }
  EXPECT_DOUBLE_EQ(run.profile.seconds(), all);
  EXPECT_DOUBLE_EQ(run.profile.seconds_beside_products(), beside);
  EXPECT_LT(beside, all);
}

TEST(PassProfile, NamesEveryFormatOfAnOperationOnce) {
  PassProfile::Total total;
  for (const char* format : {"BF16", "F16", "BF16", "Q4_0", "F16"}) total.add_format(format);
  EXPECT_EQ(total.formats, "BF16 F16 Q4_0");
}

TEST(PassProfile, ChangesNoLogit) {
  Profiled run;
  run.score();
  const auto plain = run.model->start(0, 4).value();
  TokenTree tree(7);
  tree.child(TokenTree::root, 8);
  tree.child(TokenTree::root, 9);
  ASSERT_TRUE(plain->score(std::vector<Token>{5, 6, 7}, tree));
  for (NodeId node = 0; node < 3; ++node) {
    for (Token token = 0; token < static_cast<Token>(run.model->vocabulary()); ++token) {
      ASSERT_EQ(plain->logits(node).at(token), run.session->logits(node).at(token));
    }
  }
}

TEST(PassProfile, KnowsHowLongMemoryAndMultipliersAreBusy) {
  const Work work{.bytes = 100.0, .macs = 50.0, .integer_macs = 30.0};
  const MachineSpeed machine{.bytes = 10.0, .integer_macs = 5.0, .float_macs = 4.0};
  EXPECT_DOUBLE_EQ(work.reading_seconds(machine), 10.0);
  EXPECT_DOUBLE_EQ(work.multiplying_seconds(machine), 30.0 / 5.0 + 20.0 / 4.0);
}

// Rows read the experts that they select, each expert once for all rows.
TEST(PassProfile, CountsTheExpertsThatRowsHaveChosen) {
  const RealModel model = RealModel::load("arch/qwen3moe-f32.gguf");
  PassProfile profile;
  const auto session = model->start(0, 1, &profile).value();
  ASSERT_TRUE(session->score(std::vector<Token>{5}, TokenTree(5)));
  const ModelSpec& spec = model->spec();
  const ExpertsSpec& experts = *spec.layers.front().experts;
  const auto layers = static_cast<double>(spec.layers.size()), used = static_cast<double>(experts.used);
  const auto router = static_cast<double>(experts.blocks.size() * spec.width);
  const auto block = static_cast<double>(3 * experts.blocks.front().width * spec.width);
  const Work one = profile[Operation::experts].work;
  EXPECT_EQ(one.macs, layers * (router + used * block));
  EXPECT_EQ(one.bytes, 4.0 * one.macs) << "F32, each weight once";
  ASSERT_TRUE(session->score(std::vector<Token>{5, 9, 13, 40, 41, 42, 99}, TokenTree(99)));
  const Work seven = profile[Operation::experts].work;
  EXPECT_EQ(seven.macs - one.macs, 6.0 * one.macs);
  EXPECT_LE(seven.bytes - one.bytes, 4.0 * layers * (router + 7 * block)) << "no more than there are";
  EXPECT_GT(seven.bytes - one.bytes, one.bytes);
}

}  // namespace
}  // namespace spectr
