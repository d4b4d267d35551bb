// Mixtures of experts: the router's selection, and the whole operation compared with its plain twin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/cpu/experts_pass.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/graph.h"
#include "tests/support/data.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using Gating = ExpertsSpec::Gating;

std::vector<ChosenExpert> choose(const ExpertsSpec& spec, std::vector<float> z,
                                 const std::vector<float>& bias = {}) {
  std::vector<ChosenExpert> chosen(spec.used);
  choose_experts(spec, bias, z, chosen);
  return chosen;
}

std::vector<std::uint32_t> experts_of(const std::vector<ChosenExpert>& chosen) {
  std::vector<std::uint32_t> experts;
  for (const ChosenExpert& one : chosen) experts.push_back(one.expert);
  return experts;
}

ExpertsSpec spec_of(std::size_t used, Gating gating, bool normalized, float scale = 1) {
  ExpertsSpec spec{};
  spec.used = used;
  spec.gating = gating;
  spec.normalized = normalized;
  spec.weights_scale = scale;
  return spec;
}

TEST(ChooseExperts, TakesTheLargestAndTheLowerOneOfTwoThatAreEqual) {
  const ExpertsSpec spec = spec_of(3, Gating::softmax, true);
  EXPECT_THAT(experts_of(choose(spec, {1, 4, 2, 4, 3})), testing::ElementsAre(1, 3, 4));
  EXPECT_THAT(experts_of(choose(spec, {7, 7, 7, 7, 7})), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(experts_of(choose(spec, {-1, -2, -3})), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(experts_of(choose(spec, {-90, -200, 50, -201, -300})), testing::ElementsAre(2, 0, 1))
      << "also where all shares but one are rounded to nothing";
}

TEST(ChooseExperts, WeighsAsTheSpecSays) {
  const std::vector<float> z = {0, std::log(2.0f), std::log(5.0f)};
  const auto weights = [&](const ExpertsSpec& spec) {
    const std::vector<ChosenExpert> chosen = choose(spec, z);
    return std::pair(chosen[0].weight, chosen[1].weight);
  };
  const auto expect = [&](const ExpertsSpec& spec, double first, double second) {
    EXPECT_NEAR(weights(spec).first, first, 1e-6);
    EXPECT_NEAR(weights(spec).second, second, 1e-6);
  };
  expect(spec_of(2, Gating::softmax, false), 5.0 / 8, 2.0 / 8);
  expect(spec_of(2, Gating::softmax, true), 5.0 / 7, 2.0 / 7);
  expect(spec_of(2, Gating::softmax, true, 2.5f), 2.5 * 5.0 / 7, 2.5 * 2.0 / 7);
  expect(spec_of(2, Gating::softmax_of_chosen, false), 5.0 / 7, 2.0 / 7);
  expect(spec_of(2, Gating::sigmoid, false), 5.0 / 6, 2.0 / 3);
  expect(spec_of(2, Gating::sigmoid, true), (5.0 / 6) / (5.0 / 6 + 2.0 / 3), (2.0 / 3) / (5.0 / 6 + 2.0 / 3));
}

TEST(ChooseExperts, ABiasDecidesTheChoiceAndNotTheWeights) {
  const std::vector<ChosenExpert> chosen =
      choose(spec_of(2, Gating::sigmoid, false), {0, std::log(2.0f), std::log(5.0f)}, {1, 0, 0});
  EXPECT_THAT(experts_of(chosen), testing::ElementsAre(0, 2));
  EXPECT_NEAR(chosen[0].weight, 0.5, 1e-6);
  EXPECT_NEAR(chosen[1].weight, 5.0 / 6, 1e-6);
}

TEST(ChooseExperts, TakesThemFromTheGroupsWhoseTwoBestAreTheLargest) {
  ExpertsSpec spec = spec_of(2, Gating::sigmoid, false);
  spec.groups = 3;
  spec.groups_used = 2;
  // Sums of the two σ of a group: 0.98 + 0.5, 0.88 + 0.88, 0.95 + 0.12. The first two groups are best.
  const std::vector<float> z = {4, 0, 2, 2, 3, -2};
  EXPECT_THAT(experts_of(choose(spec, z)), testing::ElementsAre(0, 2));
  spec.groups_used = 1;
  EXPECT_THAT(experts_of(choose(spec, z)), testing::ElementsAre(2, 3));
  EXPECT_THAT(experts_of(choose(spec, z, {0, 0, -1, -1, 0, 1})), testing::ElementsAre(5, 4)) << "with a bias";
  spec.groups_used = 3;
  EXPECT_THAT(experts_of(choose(spec, z)), testing::ElementsAre(0, 4));
}

/// A modified small model on a backend, and its logits for a sequence in one pass.
class Changed {
 public:
  explicit Changed(const std::function<void(ModelSpec&)>& change)
      : file_(Gguf::open(find_data("arch/qwen3moe-f32.gguf").value()).value()),
        spec_(read_model_spec(file_).value()) {
    change(spec_);
  }

  /// Adds a vector of `size` random numbers.
  static WeightId add_vector(ModelSpec& spec, std::size_t size) {
    spec.weights.push_back({"", TensorType::f32, 1, size, 0, true});
    return static_cast<WeightId>(spec.weights.size() - 1);
  }

  std::vector<float> logits(const Backend& backend) const {
    const std::unique_ptr<Ops> ops = backend.make(spec_, {KvType::f32, KvType::f32}).value();
    std::mt19937 random(1);
    std::vector<std::vector<float>> added;
    for (WeightId id = 0; id < spec_.weights.size(); ++id) {
      const WeightSpec& weight = spec_.weight(id);
      if (weight.name.empty()) {
        added.emplace_back();
        for (std::size_t i = 0; i < weight.cols; ++i)
          added.back().push_back(std::uniform_real_distribution<float>(-1, 1)(random));
        ops->upload(id, std::as_bytes(std::span(added.back())));
      } else {
        const std::size_t first = weight.first * (weight.is_vector ? 1 : weight.cols);
        ops->upload(id, file_.tensor(weight.name)->bytes.subspan(4 * first, 4 * weight.rows * weight.cols));
      }
    }
    PassBatch batch;
    const CacheId cache = ops->open_cache({16, 16});
    ops->reserve(16);
    for (std::size_t i = 0; i < 16; ++i) batch.add_row(static_cast<Token>(3 + 7 * i), i, cache, i, i + 1, {});
    batch.wanted = {15};
    const HeldLogits held = run_pass(spec_, batch, *ops).value();
    std::vector<float> row;
    for (std::size_t t = 0; t < spec_.vocabulary; ++t)
      row.push_back(static_cast<float>(held.row(0).at(static_cast<Token>(t))));
    return row;
  }

 private:
  Gguf file_;
  ModelSpec spec_;
};

TEST(Experts, AreThoseOfTheReferenceWhateverTheSpecSays) {
  using Change = std::function<void(ModelSpec & spec, ExpertsSpec & experts)>;
  const std::vector<Change> changes = {
      [](ModelSpec&, ExpertsSpec&) {},
      [](ModelSpec&, ExpertsSpec& e) { e.gating = Gating::sigmoid; },
      [](ModelSpec& s, ExpertsSpec& e) {  // without a bias it would equal the first change
        e.gating = Gating::softmax_of_chosen;
        e.selection_bias = Changed::add_vector(s, e.blocks.size());
      },
      [](ModelSpec&, ExpertsSpec& e) { e.normalized = false; },
      [](ModelSpec&, ExpertsSpec& e) { e.weights_scale = 2.5f; },
      [](ModelSpec&, ExpertsSpec& e) { e.used = 1; },
      [](ModelSpec&, ExpertsSpec& e) { e.used = e.blocks.size(); },
      [](ModelSpec& s, ExpertsSpec& e) { e.selection_bias = Changed::add_vector(s, e.blocks.size()); },
      [](ModelSpec& s, ExpertsSpec& e) { e.router.bias = Changed::add_vector(s, e.blocks.size()); },
      [](ModelSpec& s, ExpertsSpec& e) {
        for (DenseSpec& block : e.blocks) {
          block.up.bias = Changed::add_vector(s, block.up.out);
          block.gate->bias = Changed::add_vector(s, block.gate->out);
          block.down.bias = Changed::add_vector(s, block.down.out);
        }
      },
      [](ModelSpec&, ExpertsSpec& e) {
        for (DenseSpec& block : e.blocks) block.activation = Activation::gelu_tanh;
      },
      [](ModelSpec&, ExpertsSpec& e) {
        for (DenseSpec& block : e.blocks) block.gate.reset();
      },
      [](ModelSpec&, ExpertsSpec& e) { e.router_scale = 0.25f; },
      [](ModelSpec& s, ExpertsSpec& e) {
        e.router_norm = NormSpec{NormSpec::Kind::rms, Changed::add_vector(s, s.width), {}, 1e-5f};
      },
      [](ModelSpec& s, ExpertsSpec& e) { e.scales = Changed::add_vector(s, e.blocks.size()); },
      [](ModelSpec&, ExpertsSpec& e) {  // experts of other ranks contribute nothing
        e.first = 1;
        e.blocks.erase(e.blocks.begin());
      }};
  std::vector<std::vector<float>> all;
  for (const Change& change : changes) {
    const Changed model([&](ModelSpec& spec) {
      for (LayerSpec& layer : spec.layers) change(spec, *layer.experts);
    });
    ThreadPool pool(2);
    const std::vector<float> expected = model.logits(ReferenceBackend());
    for (const std::vector<float>& found :
         {model.logits(CpuBackend(pool)), model.logits(DeviceBackend(std::make_shared<TwinDevice>()))}) {
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        difference += std::pow(double{found[i]} - double{expected[i]}, 2);
        size += std::pow(double{expected[i]}, 2);
      }
      EXPECT_LE(std::sqrt(difference / size), 1e-5) << "change " << all.size();
    }
    for (const auto& other : all) EXPECT_NE(expected, other) << "change " << all.size() << " does something";
    all.push_back(expected);
  }
}

}  // namespace
}  // namespace spectr
