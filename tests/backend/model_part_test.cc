// A rank's part of a model.
#include "spectr/backend/sharded/model_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

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

}  // namespace
}  // namespace spectr
