// Kernel calls of mixtures of experts on the twins agree with the definitions and with ordinary products.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/weights/device_weights.h"
#include "spectr/backend/reference/reference_experts.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/support/data.h"
#include "tests/support/devices/expert_calls.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr Mixture mixtures[] = {{1, 1, 1, 0, 1},  {1, 2, 8, 0, 8},  {5, 3, 4, 0, 4},
                                {9, 4, 16, 5, 6}, {70, 2, 3, 0, 3}, {300, 2, 700, 0, 700}};

TEST(TwinExperts, AreChosenAndWeighedByTheDefinition) {
  for (const Choosing& how : all_choosing()) {
    ModelSpec model{};
    model.weights = {{"bias", TensorType::f32, 1, how.experts, 0, true},
                     {"scales", TensorType::f32, 1, how.experts, 0, true}};
    ReferenceWeights<double> numbers(model);
    const std::vector<float> bias = how.bias(), scales = how.scales();
    numbers.upload(0, std::as_bytes(std::span(bias)));
    numbers.upload(1, std::as_bytes(std::span(scales)));
    ExpertsSpec spec{};
    spec.gating = how.gating;
    spec.normalized = how.normalized;
    spec.weights_scale = how.weights_scale;
    spec.used = how.used;
    spec.groups = how.groups;
    spec.groups_used = how.groups_used;
    if (how.has_bias) spec.selection_bias = 0;
    if (how.has_scales) spec.scales = 1;
    TwinDevice twins;
    const std::vector<float> z = how.z();
    const Chosen found = choose(twins, how, z);
    for (std::size_t r = 0; r < how.rows; ++r) {
      const auto row = z.begin() + static_cast<std::ptrdiff_t>(r * how.experts);
      const auto expected = choose_by_definition<double>(
          spec, numbers, std::vector<double>(row, row + static_cast<std::ptrdiff_t>(how.experts)));
      for (std::size_t i = 0; i < how.used; ++i) {
        const std::size_t slot = r * how.used + i;
        EXPECT_EQ(found.experts[slot], static_cast<int>(expected[i].first)) << how.experts << " experts";
        EXPECT_NEAR(found.weights[slot], expected[i].second, 2e-6 * (1 + std::abs(expected[i].second)));
      }
    }
  }
}

TEST(TwinExperts, ThatHaveNoNumberComeLastAndZerosHaveNoSign) {
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const Choosing how{.gating = ExpertsSpec::Gating::sigmoid, .experts = 6, .used = 6, .rows = 1};
  TwinDevice twins;
  EXPECT_THAT(choose(twins, how, {nan, -infinity, 0.0f, -0.0f, -nan, infinity}).experts,
              testing::ElementsAre(5, 2, 3, 1, 0, 4));
  EXPECT_THAT(choose(twins, how, {nan, nan, nan, nan, nan, nan}).experts,
              testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(TwinExperts, HaveListsOfTheSlotsThatChoseThem) {
  for (const Mixture& of : mixtures) {
    TwinDevice twins;
    const Numbers lists = lists_of(twins, of);
    const std::vector<int> numbers = fetch<int>(twins, lists), chosen = of.chosen();
    const std::size_t groups = of.lists({}).groups;
    std::set<int> seen;
    int begin = 0, block_before = -1;
    for (std::size_t g = 0; g < groups; ++g) {
      const int block = numbers[3 * g], size = numbers[3 * g + 2];
      if (size == 0) continue;
      EXPECT_EQ(numbers[3 * g + 1], begin);
      EXPECT_GT(block, block_before);
      int before = -1;
      for (int i = begin; i < begin + size; ++i) {
        const int slot = numbers[3 * groups + static_cast<std::size_t>(i)];
        EXPECT_GT(slot, before);
        EXPECT_EQ(chosen[static_cast<std::size_t>(slot)], block + static_cast<int>(of.first));
        seen.insert(slot);
        before = slot;
      }
      begin += size;
      block_before = block;
    }
    for (std::size_t s = 0; s < of.slots(); ++s) {
      const std::size_t expert = static_cast<std::size_t>(chosen[s]);
      EXPECT_EQ(seen.contains(static_cast<int>(s)), expert >= of.first && expert < of.first + of.blocks);
    }
  }
}

TEST(TwinExperts, MultiplyEverySlotWithTheBitsOfAProductOfItsOwn) {
  for (const TensorType type : {TensorType::q8_0, TensorType::q5_k, TensorType::q6_k, TensorType::f16}) {
    constexpr std::size_t rows = 19, cols = 256;
    for (const Mixture& of : std::span(mixtures).first(5)) {
      const ExpertMatrices matrices(type, rows, cols, of.blocks);
      for (const std::size_t sharers : {of.used, std::size_t{1}}) {
        const std::vector<float> x = random_floats(of.slots() / sharers * cols, 2);
        TwinDevice twins;
        const std::vector<float> y = expert_product(twins, of, matrices, sharers, x);
        for (std::size_t s = 0; s < of.slots(); ++s) {
          const std::size_t block = static_cast<std::size_t>(of.chosen()[s]) - of.first;
          std::vector<float> expected(rows, 7.0f);  // left unwritten: the expert is not on this device
          if (block < of.blocks) {
            const std::span<const float> row = std::span(x).subspan(s / sharers * cols, cols);
            expected = quant_layout(type)
                           ? twin::product(type, matrices.files[block], rows, twin::quantize(row, 1))
                           : twin::float_product(type, matrices.files[block], rows, row, 1);
          }
          const auto found = y.begin() + static_cast<std::ptrdiff_t>(s * (rows + 3));
          EXPECT_EQ(bits_of(std::vector<float>(found, found + rows)), bits_of(expected)) << "slot " << s;
        }
      }
    }
  }
}

TEST(TwinExperts, AreAddedAsTheyWeigh) {
  constexpr std::size_t cols = 5;
  for (const Mixture& of : mixtures) {
    TwinDevice twins;
    const std::vector<float> found = combined(twins, of, cols), in = random_floats(of.slots() * cols, 1),
                             vectors = random_floats(of.blocks * cols, 2),
                             weights = random_floats(of.slots(), 3);
    const std::vector<int> chosen = of.chosen();
    for (std::size_t i = 0; i < found.size(); ++i) {
      double sum = 0;
      for (std::size_t s = i / cols * of.used; s < (i / cols + 1) * of.used; ++s) {
        const std::size_t block = static_cast<std::size_t>(chosen[s]) - of.first;
        if (block >= of.blocks) continue;
        sum += double{weights[s]} * (double{in[s * cols + i % cols]} + vectors[block * cols + i % cols]);
      }
      EXPECT_NEAR(found[i], sum, 1e-5);
    }
  }
}

TEST(DeviceExperts, OfDifferentFormatsOrWithBiasesInPartAreRefusedByName) {
  const Gguf file = Gguf::open(find_data("arch/qwen3moe-f32.gguf").value()).value();
  const ModelSpec spec = read_model_spec(file).value();
  const DeviceBackend backend(std::make_shared<TwinDevice>());
  EXPECT_TRUE(backend.make(spec, {KvType::f16, KvType::f16}));
  ModelSpec other = spec;
  std::vector<DenseSpec>& blocks = other.layers[1].experts->blocks;
  other.weights[blocks[2].up.weight].type = TensorType::f16;
  EXPECT_THAT(backend.make(other, {KvType::f16, KvType::f16}).error().message,
              testing::AllOf(HasSubstr("tensor blk.1.ffn_up_exps.weight is F16"),
                             HasSubstr("and that of the layer's first expert F32")));
  other.weights[blocks[2].up.weight].type = TensorType::f32;
  blocks[1].down.bias = other.layers[0].mixer_norm->weight;
  EXPECT_THAT(backend.make(other, {KvType::f16, KvType::f16}).error().message,
              HasSubstr("is of some experts of a layer only"));
}

// Weights that are uploaded one by one take as much memory as `bytes_of` announced.
TEST(DeviceExperts, TakeAsMuchMemoryAsIsSaid) {
  const Gguf file = Gguf::open(find_data("arch/qwen3moe-formats.gguf").value()).value();
  const ModelSpec spec = read_model_spec(file).value();
  TwinDevice twins;
  DeviceWeights weights(spec, twins, nullptr);
  std::size_t bytes = 0;
  for (const LayerSpec& layer : spec.layers) {
    for (const DenseSpec& block : layer.experts->blocks) {
      const WeightSpec& weight = spec.weight(block.down.weight);
      const TensorFormat& format = format_of(weight.type);
      const std::size_t size = weight.rows * weight.cols / format.elements * format.bytes;
      weights.upload(block.down.weight, random_tensor(weight.type, weight.rows, weight.cols, 1));
      bytes += weights.bytes_of(block.down.weight);
      EXPECT_GE(weights.bytes_of(block.down.weight), size);
    }
  }
  EXPECT_EQ(twins.info().bytes - twins.info().free_bytes, bytes);
}

}  // namespace
}  // namespace spectr
