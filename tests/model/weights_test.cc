// A file's tensors must be there in the shapes that its configuration asks for.
#include "spectr/model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spectr/model/transformer.h"
#include "tests/support/gguf_writer.h"

namespace spectr {
namespace {

using testing::HasSubstr;

using Tensors = std::vector<WrittenTensor>;

/// All tensors of tiny_llama(): width 8, ffn 16, two heads.
Tensors llama_tensors() {
  return {{.name = "token_embd.weight", .shape = {8, 4}},
          {.name = "output_norm.weight", .shape = {8}},
          {.name = "blk.0.attn_norm.weight", .shape = {8}},
          {.name = "blk.0.attn_q.weight", .shape = {8, 8}},
          {.name = "blk.0.attn_k.weight", .shape = {8, 8}},
          {.name = "blk.0.attn_v.weight", .shape = {8, 8}},
          {.name = "blk.0.attn_output.weight", .shape = {8, 8}},
          {.name = "blk.0.ffn_norm.weight", .shape = {8}},
          {.name = "blk.0.ffn_gate.weight", .shape = {8, 16}},
          {.name = "blk.0.ffn_up.weight", .shape = {8, 16}},
          {.name = "blk.0.ffn_down.weight", .shape = {16, 8}}};
}

/// "" where the model loads.
std::string load_error(const Tensors& tensors, GgufWriter writer = tiny_llama()) {
  writer.without_tensors();
  for (const WrittenTensor& tensor : tensors) writer.tensor(tensor);
  const auto bytes = writer.bytes();
  auto file = Gguf::parse(bytes, "tiny.gguf");
  if (!file) return file.error().message;
  ThreadPool pool(1);
  const auto model = Transformer::load(std::move(*file), pool);
  return model ? "" : model.error().message;
}

TEST(Weights, AWholeFileLoads) {
  EXPECT_EQ(load_error(llama_tensors()), "");
}

TEST(Weights, EveryMissingTensorIsNamed) {
  const Tensors all = llama_tensors();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Tensors tensors = all;
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string error = load_error(tensors);
    EXPECT_THAT(error, HasSubstr("tiny.gguf"));
    EXPECT_THAT(error, HasSubstr(all[i].name));
  }
}

TEST(Weights, EveryWrongShapeIsNamed) {
  const Tensors all = llama_tensors();
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t dimension = 0; dimension < all[i].shape.size(); ++dimension) {
      Tensors tensors = all;
      tensors[i].shape[dimension] += 8;
      const std::string error = load_error(tensors);
      EXPECT_THAT(error, HasSubstr("tiny.gguf"));
      EXPECT_THAT(error, HasSubstr(all[i].name));
      EXPECT_THAT(error, HasSubstr("expected"));
    }
  }
}

TEST(Weights, OptionalTensorsAreCheckedToo) {
  const auto with = [](WrittenTensor tensor) {
    Tensors tensors = llama_tensors();
    tensors.push_back(std::move(tensor));
    return load_error(tensors);
  };
  EXPECT_EQ(with({.name = "output.weight", .shape = {8, 4}}), "");
  EXPECT_THAT(with({.name = "output.weight", .shape = {8, 5}}), HasSubstr("output.weight"));
  EXPECT_EQ(with({.name = "blk.0.attn_q.bias", .shape = {8}}), "");
  EXPECT_THAT(with({.name = "blk.0.attn_q.bias", .shape = {9}}), HasSubstr("blk.0.attn_q.bias"));
  EXPECT_THAT(with({.name = "rope_freqs.weight", .shape = {3}}), HasSubstr("rope_freqs.weight"));
  EXPECT_THAT(with({.name = "rope_freqs.weight", .shape = {2}}), HasSubstr("rope_freqs.weight"));  // zeros
}

TEST(Weights, AnUnknownArchitectureIsNamed) {
  GgufWriter writer = tiny_llama();
  writer.set("general.architecture", "mamba");
  EXPECT_THAT(load_error(llama_tensors(), writer), HasSubstr("mamba"));
}

}  // namespace
}  // namespace spectr
