// Whole passes of models on Vulkan: with the bits of the twins that round each multiplication and each
// addition separately, near the CPU's results, and with the same bits in every batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/models/model_course.h"
#include "tests/support/random_tensor.h"
#include "tests/support/real_model.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace test;

Result<std::unique_ptr<Transformer>> load(const fs::path& file, std::shared_ptr<const Backend> backend,
                                          const KvChoice& kv = {}) {
  return Transformer::load(Gguf::open(file).value(), std::move(backend), {.kv = kv});
}

/// Returns some models for each kind of norm, position, activation, window, cap, format and recurrent layer.
std::vector<fs::path> models() {
  std::vector<fs::path> files = {*find_data(bundled_draft)};
  for (const char* name :
       {"arch/llama-f32.gguf", "arch/gemma2-f32.gguf", "arch/gemma3-f32.gguf", "arch/qwen3-f32.gguf",
        "arch/llama-formats-256.gguf", "arch/gptneox-f32.gguf", "arch2/opt/pre-norm.gguf",
        "arch2/qwen35/model-interval2.gguf", "arch/qwen3moe-f32.gguf"})
    files.push_back(source_folder() / "tests/data" / name);
  return files;
}

std::string name_of_model(const testing::TestParamInfo<fs::path>& file) {
  return test_name_of(file.param);
}

class VulkanPasses : public OnVulkan<testing::TestWithParam<fs::path>> {
 protected:
  Result<std::unique_ptr<Transformer>> load_here(const fs::path& file, const KvChoice& kv = {}) const {
    return load(file, std::make_shared<DeviceBackend>(device_), kv);
  }
};

TEST_P(VulkanPasses, HaveTheBitsOfTheTwins) {
  const auto twins = std::make_shared<DeviceBackend>(
      std::make_shared<TwinDevice>(std::size_t{1} << 30, twin::Rounding::separate));
  for (const KvChoice& kv : {KvChoice{KvType::f16, KvType::f16}, KvChoice{KvType::q8_0, KvType::f32}}) {
    const auto here = load_here(GetParam(), kv);
    ASSERT_TRUE(here) << here.error().message;
    const auto there = load(GetParam(), twins, kv);
    EXPECT_EQ(course(**here, 20), course(**there, 20));
  }
}

TEST_P(VulkanPasses, AreNearTheReference) {
  const KvChoice kv{KvType::f32, KvType::f32};
  const auto found = course(*load_here(GetParam(), kv).value(), 20);
  if (default_kv(read_model_spec(Gguf::open(GetParam()).value()).value()).keys == KvType::f32) {
    const auto reference = std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f64);
    EXPECT_LE(largest_distance(found, course(*load(GetParam(), reference, kv).value(), 20)), 1e-4);
  } else {  // with quantized weights, activations are quantized, too
    ThreadPool pool(1);
    const auto processor = std::make_shared<CpuBackend>(pool);
    EXPECT_LE(largest_distance(found, course(*load(GetParam(), processor, kv).value(), 20)), 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, VulkanPasses, testing::ValuesIn(models()), name_of_model);

class VulkanRows : public VulkanPasses {};

TEST_P(VulkanRows, HaveTheSameBitsAsNodesAndAsTextAndAfterKeeping) {
  const auto model = load_here(GetParam()).value();
  ASSERT_TRUE(model->caps().row_invariant);
  const std::size_t vocabulary = model->vocabulary();
  std::vector<Token> text = random_text(70, vocabulary, 1);
  const auto session = model->start(0, 12).value();
  for (std::uint32_t block = 0; block < 2; ++block) {
    const TokenTree tree = random_tree(text.back(), 12, vocabulary, block);
    ASSERT_TRUE(session->score(text, tree));
    for (NodeId node = 0; node < tree.size(); node += 5) {
      ASSERT_EQ(row_of(*session, node), alone(*model, text_at(text, tree, node)))
          << "node " << node << " after " << text.size() << " tokens";
    }
    const RecycledVector<NodeId> path = tree.path(tree.size() - 1);
    session->keep(path);
    for (const NodeId node : path) text.push_back(tree.token(node));
    text.push_back(5);
  }
}

// All models have the bits of the twins, for which this is tested with all models: a few are enough here.
INSTANTIATE_TEST_SUITE_P(Models, VulkanRows,
                         testing::Values(source_folder() / "tests/data/arch/gemma3-f32.gguf",
                                         source_folder() / "tests/data/arch/qwen3moe-f32.gguf",
                                         source_folder() / "tests/data/arch2/qwen35/model-interval2.gguf"),
                         name_of_model);

class VulkanPass : public VulkanPasses {};

TEST_P(VulkanPass, HasTheSameBitsInTheCompanyOfOtherTexts) {
  expect_bits_alone_in_company(*load_here(GetParam()).value(), 2);
}

TEST_P(VulkanPass, WritesTheTextOfTheProcessorWhereThatIsClear) {
  ThreadPool pool(1);
  const auto model = load_here(GetParam()).value();
  const auto expected = load(GetParam(), std::make_shared<CpuBackend>(pool)).value();
  const auto here = model->start(0, 1).value(), there = expected->start(0, 1).value();
  std::vector<Token> text = random_text(4, model->vocabulary(), 1);
  for (int i = 0; i < 24; ++i) {
    ASSERT_TRUE(here->score(text, TokenTree(text.back())));
    ASSERT_TRUE(there->score(text, TokenTree(text.back())));
    const std::vector<float> row = row_of(*here, TokenTree::root),
                             reference = row_of(*there, TokenTree::root);
    double off = 0, size = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      off += (row[j] - reference[j]) * (row[j] - reference[j]);
      size += reference[j] * reference[j];
    }
    EXPECT_LE(std::sqrt(off / size), 0.02);
    const auto best = there->logits(TokenTree::root).top(2);
    if (best[0].logit - best[1].logit > 0.01) {
      EXPECT_EQ(here->logits(TokenTree::root).top(1)[0].token, best[0].token) << "after " << i;
    }
    text.push_back(best[0].token);
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, VulkanPass, testing::Values(*find_data(bundled_draft)), name_of_model);

}  // namespace
}  // namespace spectr
