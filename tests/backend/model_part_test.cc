// A rank's part of a model.
#include "spectr/backend/sharded/model_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/sharded/model_stage.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Part, PartsCoverEverythingInWholePieces) {
  for (const std::size_t ranks : {1, 2, 3, 7}) {
    for (const auto& [count, piece] :
         {std::pair<std::size_t, std::size_t>{7, 1}, {17 * 256, 256}, {100, 1}}) {
      std::size_t next = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const Range part = part_of(count, {rank, ranks}, piece);
        EXPECT_EQ(part.first, next);
        EXPECT_EQ(part.size % piece, 0);
        next += part.size;
      }
      EXPECT_EQ(next, count);
    }
  }
}

ModelSpec spec_of(const fs::path& model) {
  return read_model_spec(Gguf::open(source_folder() / model).value()).value();
}

TEST(Part, AllWeightsButNormsAndRoutersAreDivided) {
  const ModelSpec whole = spec_of("tests/data/arch/qwen3moe-f32.gguf");
  const auto numbers = [](const ModelSpec& spec) {
    double sum = 0;
    for (const WeightSpec& weight : spec.weights)
      if (!weight.is_vector) sum += static_cast<double>(weight.rows * weight.cols);
    return sum;
  };
  double routers = 0, parts = 0;
  for (const LayerSpec& layer : whole.layers)
    routers += static_cast<double>(layer.experts->router.out * layer.experts->router.in);
  for (const std::size_t rank : {0, 1}) {
    ModelSpec part = whole;
    ASSERT_TRUE(take_part_of_layers(part, {rank, 2}));
    EXPECT_LT(numbers(part), 0.6 * numbers(whole));
    parts += numbers(part);
  }
  EXPECT_EQ(parts, numbers(whole) + routers);
}

std::string refusal(const fs::path& model, std::size_t ranks) {
  ModelSpec spec = spec_of(model);
  const auto result = take_part_of_layers(spec, {0, ranks});
  return result ? "" : result.error().message;
}

TEST(Part, WhatRanksCannotShareIsRefusedByName) {
  EXPECT_THAT(refusal("tests/data/arch/qwen3moe-f32.gguf", 3), HasSubstr("heads of"));
  EXPECT_THAT(
      refusal("models/spectr-stories-7m-q8_0.gguf", 2),
      HasSubstr("the 288 columns of blk.0.attn_output.weight are blocks of 32 (Q8_0), which 2 ranks"));
  EXPECT_THAT(refusal("tests/data/arch2/qwen35/model-interval2.gguf", 2), HasSubstr("recurrent"));
  EXPECT_THAT(refusal("tests/data/arch2/deepseek2/model.gguf", 2), HasSubstr("deepseek2."));
}

TEST(Stage, RanksHaveLayersThatFollowOneAnotherAndNearlyTheSameBytes) {
  const ModelSpec whole = spec_of("models/spectr-stories-7m-f16.gguf");
  const auto bytes_of = [](const ModelSpec& spec) {
    std::size_t bytes = 0;
    for (const WeightSpec& weight : spec.weights) bytes += 2 * weight.rows * weight.cols;
    return bytes;
  };
  for (const std::size_t ranks : {2, 3}) {
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      ModelSpec part = whole;
      ASSERT_TRUE(take_stage(part, {rank, ranks}));
      next += part.layers.size();
      EXPECT_LT(bytes_of(part), 1.35 * static_cast<double>(bytes_of(whole)) / static_cast<double>(ranks));
      EXPECT_EQ(part.head.output.out, rank == 0 ? whole.vocabulary : 0);
    }
    EXPECT_EQ(next, whole.layers.size());
  }
}

TEST(Stage, LayersThatShareKeysAndValuesStayTogether) {
  ModelSpec spec = spec_of("models/spectr-stories-7m-f16.gguf");
  ASSERT_GE(spec.layers.size(), 4);
  const std::size_t last = spec.layers.size() - 1;
  spec.layers[last].attention()->kv_from = 1;
  const auto stages = stages_of(spec, 2).value();
  EXPECT_EQ(stages, (std::vector<Range>{{0, 1}, {1, last}}));
  EXPECT_EQ(stages_of(spec, 1).value(), (std::vector<Range>{{0, last + 1}}));
  const auto refused = stages_of(spec, 3);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("of which some share keys and values, cannot be shared by 3"));
  const auto too_many = stages_of(spec, 40);
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().message,
              HasSubstr("6 layers, of which some share keys and values, cannot be shared by 40 ranks"));
}

}  // namespace
}  // namespace spectr
