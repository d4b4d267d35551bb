// Next-token layers of families without reference figures. On the projected pairs of embedding and state,
// such a layer is a model of one layer, which other tests compare with references.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/weights.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/models/drafter_case.h"

namespace spectr {
namespace {

using test::DrafterCase;
using test::relative_l2;

/// A model's file, and its last block, whose weights the next-token layer gets.
struct Family {
  std::string architecture, file;
  std::size_t block;
};

std::vector<float> numbers_of(const GgufTensor& tensor) {
  std::vector<float> all(tensor.rows() * tensor.cols());
  for (std::size_t row = 0; row < tensor.rows(); ++row)
    read_numbers(tensor, row, std::span(all).subspan(row * tensor.cols(), tensor.cols()));
  return all;
}

WrittenTensor written(const GgufTensor& tensor, const std::string& name) {
  std::vector<std::uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
  while (shape.size() > 1 && shape.back() == 1) shape.pop_back();
  return {.name = name, .shape = std::move(shape), .numbers = numbers_of(tensor)};
}

/// Returns a file with all keys of another one, and no tensors.
GgufWriter with_keys_of(const Gguf& file) {
  GgufWriter copy;
  for (const std::string_view key : file.keys()) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, GgufArray>) {
            Bytes bytes;
            bytes.u32(static_cast<std::uint32_t>(value.type)).u64(value.count);
            bytes.text({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
            copy.entry(key, GgufType::array, bytes);
          } else {
            copy.set(key, value);
          }
        },
        *file.find(key));
  }
  return copy;
}

/// Sets the keys that depend on the blocks. In blocks without attention, qwen35moe is recurrent.
void set_blocks(GgufWriter& file, const Family& family, const std::vector<bool>& recurrent) {
  const auto blocks = static_cast<std::uint32_t>(recurrent.size());
  file.set(family.architecture + ".block_count", blocks);
  if (family.architecture == "deepseek2" && blocks == 1) file.set("deepseek2.leading_dense_block_count", 0U);
  if (family.architecture != "qwen35moe") return;
  file.remove("qwen35moe.full_attention_interval");
  Bytes bytes;
  bytes.u32(static_cast<std::uint32_t>(GgufType::boolean)).u64(blocks);
  for (const bool one : recurrent) bytes.number(static_cast<std::uint8_t>(one));
  file.entry("qwen35moe.attention.recurrent_layers", GgufType::array, bytes);
}

class NextTokenLayers : public testing::TestWithParam<Family> {
 protected:
  static std::shared_ptr<const Backend> backend() {
    static ThreadPool two(2);
    return std::make_shared<CpuBackend>(two);
  }

  NextTokenLayers()
      : base_(Gguf::open(DrafterCase::folder() / ".." / "arch2" / GetParam().file).value()), next_(5) {
    const std::size_t n = width();
    const auto random = [this](std::size_t size, double center, double spread) {
      std::vector<float> numbers(size);
      for (float& one : numbers)
        one = static_cast<float>(center + spread * (static_cast<double>(next_()) / 2147483648.0 - 1));
      return numbers;
    };
    projection_ = random(2 * n * n, 0, 0.3);
    for (std::vector<float>* norm : {&token_norm_, &state_norm_, &head_norm_}) *norm = random(n, 1, 0.3);
  }

  std::size_t width() const { return base_.tensor("output_norm.weight")->cols(); }

  /// Returns the family's model with a next-token layer, or that layer without the model's other blocks.
  std::vector<std::byte> model(bool is_whole = true) const {
    const std::size_t blocks = GetParam().block + 1, n = width();
    GgufWriter file = with_keys_of(base_);
    std::vector<bool> recurrent(blocks + 1, false);
    recurrent.front() = true;
    set_blocks(file, GetParam(), recurrent);
    file.set(GetParam().architecture + ".nextn_predict_layers", 1U);
    for (const GgufTensor& tensor : base_.tensors()) {
      if (is_whole || !tensor.name.starts_with("blk."))
        file.tensor(written(tensor, std::string(tensor.name)));
    }
    const std::string own = "blk." + std::to_string(blocks) + ".";
    add_block(file, own);
    file.tensor({.name = own + "nextn.eh_proj.weight", .shape = {2 * n, n}, .numbers = projection_});
    file.tensor({.name = own + "nextn.enorm.weight", .shape = {n}, .numbers = token_norm_});
    file.tensor({.name = own + "nextn.hnorm.weight", .shape = {n}, .numbers = state_norm_});
    file.tensor({.name = own + "nextn.shared_head_norm.weight", .shape = {n}, .numbers = head_norm_});
    return file.bytes();
  }

  /// Returns the family's model without a next-token layer.
  std::vector<std::byte> base() const {
    GgufWriter file = with_keys_of(base_);
    for (const GgufTensor& tensor : base_.tensors()) file.tensor(written(tensor, std::string(tensor.name)));
    return file.bytes();
  }

  /// Compares the layer's logits along a path with those of the layer alone.
  void expect_layer(const std::vector<std::byte>& target, const std::vector<std::byte>& drafter) const;

  /// Returns a model of that layer alone, whose token i has the i-th input as its embedding.
  std::vector<std::byte> layer_alone(const std::vector<std::vector<float>>& inputs) const {
    GgufWriter file = with_keys_of(base_);
    set_blocks(file, GetParam(), {false});
    add_block(file, "blk.0.");
    WrittenTensor embedding = written(*base_.tensor("token_embd.weight"), "token_embd.weight");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      std::ranges::copy(inputs[i], embedding.numbers.begin() + static_cast<std::ptrdiff_t>(i * width()));
    file.tensor(std::move(embedding));
    file.tensor({.name = "output_norm.weight", .shape = {width()}, .numbers = head_norm_});
    file.tensor(written(*base_.tensor("output.weight"), "output.weight"));
    return file.bytes();
  }

  /// Returns eh_proj [norm(embedding of the token); norm(state)].
  std::vector<float> input(Token token, std::span<const float> state) const {
    const auto embeddings = numbers_of(*base_.tensor("token_embd.weight"));
    const std::size_t n = width();
    const double epsilon = base_.real(GetParam().architecture + ".attention.layer_norm_rms_epsilon").value();
    const auto normed = [n, epsilon](std::span<const float> x, const std::vector<float>& weight,
                                     std::vector<double>& out) {
      double squares = 0.0;
      for (const float one : x) squares += static_cast<double>(one) * static_cast<double>(one);
      const double root = std::sqrt(squares / static_cast<double>(n) + epsilon);
      for (std::size_t i = 0; i < n; ++i)
        out.push_back(static_cast<double>(x[i]) / root * static_cast<double>(weight[i]));
    };
    std::vector<double> pair;
    normed(std::span(embeddings).subspan(static_cast<std::size_t>(token) * n, n), token_norm_, pair);
    normed(state, state_norm_, pair);
    std::vector<float> out;
    for (std::size_t row = 0; row < n; ++row) {
      double sum = 0.0;
      for (std::size_t i = 0; i < 2 * n; ++i)
        sum += static_cast<double>(projection_[row * 2 * n + i]) * pair[i];
      out.push_back(static_cast<float>(sum));
    }
    return out;
  }

  /// The last token's logits and its final state, of the layer alone.
  struct Row {
    std::vector<double> logits;
    std::vector<float> state;
  };
  Row row_of(const std::vector<std::vector<float>>& inputs) const {
    const auto bytes = layer_alone(inputs);
    const auto alone = Transformer::load(Gguf::parse(bytes, "layer.gguf").value(), backend(),
                                         {.kv = {KvType::f32, KvType::f32}, .embeds = true})
                           .value();
    std::vector<Token> text;
    for (std::size_t i = 0; i < inputs.size(); ++i) text.push_back(static_cast<Token>(i));
    const auto session = alone->start(64, 1).value();
    EXPECT_TRUE(session->score(text, TokenTree(text.back())));
    Row row;
    for (Token token = 0; token < static_cast<Token>(alone->vocabulary()); ++token)
      row.logits.push_back(session->logits(TokenTree::root).at(token));
    const auto states = alone->embed(text).value();
    row.state.assign(states.end() - static_cast<std::ptrdiff_t>(width()), states.end());
    return row;
  }

 private:
  void add_block(GgufWriter& file, const std::string& own) const {
    const std::string of_base = "blk." + std::to_string(GetParam().block) + ".";
    for (const GgufTensor& tensor : base_.tensors()) {
      if (tensor.name.starts_with(of_base))
        file.tensor(written(tensor, own + std::string(tensor.name.substr(of_base.size()))));
    }
  }

  Gguf base_;
  std::mt19937 next_;
  std::vector<float> projection_, token_norm_, state_norm_, head_norm_;
};

void NextTokenLayers::expect_layer(const std::vector<std::byte>& target_bytes,
                                   const std::vector<std::byte>& drafter_bytes) const {
  const Gguf file = Gguf::parse(drafter_bytes, "drafter.gguf").value();
  const auto target = Transformer::load(Gguf::parse(target_bytes, "target.gguf").value(), backend(),
                                        {.kv = {KvType::f32, KvType::f32}, .taps = taps_of(file).value()})
                          .value();
  auto loaded = TrainedDrafter::load(Gguf::parse(drafter_bytes, "drafter.gguf").value(), *target, backend());
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto session = target->start(64, 8).value(), recorded = target->start(64, 8).value();
  const auto follower = (*loaded)->follow(*session, {.nodes = 8}).value();
  const std::vector<Token> text = {40, 160, 256, 158, 250, 296, 266, 130, 20};
  recorded->features()->record(Features::Recorded::all);
  ASSERT_TRUE(recorded->score(text, TokenTree(text.back())));
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 1; i < text.size(); ++i)
    inputs.push_back(input(text[i], recorded->features()->at(i - 1)));
  std::vector<Token> all(target->vocabulary());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Token>(i);
  TokenTree tree(text.back());
  NodeId node = TokenTree::root;
  for (const Token next : {77, 154, 231}) {
    ASSERT_TRUE(follower->score(text, tree));
    const Row expected = row_of(inputs);
    EXPECT_LE(relative_l2(follower->logits(node), all, expected.logits), 1e-4) << "before " << next;
    inputs.push_back(input(next, expected.state));
    node = tree.child(node, next);
  }
}

TEST_P(NextTokenLayers, AreAModelOfOneLayerOnPairsOfEmbeddingAndState) {
  const auto whole = model();
  expect_layer(whole, whole);
}

TEST_P(NextTokenLayers, MayBeInAFileOfTheirOwn) {
  const auto alone = model(false);
  const Gguf file = Gguf::parse(alone, "layer.gguf").value();
  EXPECT_TRUE(is_trained_drafter(file));
  expect_layer(base(), alone);
  expect_layer(model(), alone);
}

TEST_P(NextTokenLayers, BelongToOneTarget) {
  const auto alone = model(false);
  const Gguf file = Gguf::parse(alone, "layer.gguf").value();
  const auto other_file = DrafterCase::folder() / "target-llama.gguf";
  const auto other = read_model_spec(Gguf::open(other_file).value()).value();
  const auto refused = read_drafter_spec(file, other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "layer.gguf: general.architecture is " + GetParam().architecture +
                                         ", but that of the target " + other_file.string() + " is llama");
  const auto whole = base();
  auto spec = read_model_spec(Gguf::parse(whole, "target.gguf").value()).value();
  spec.layers.pop_back();
  const auto differs = read_drafter_spec(file, spec);
  ASSERT_FALSE(differs);
  const std::size_t layers = GetParam().block + 1;
  EXPECT_EQ(differs.error().message,
            "layer.gguf: " + GetParam().architecture + ".block_count without next-token layers is " +
                std::to_string(layers) + ", but the target target.gguf has " + std::to_string(layers - 1));
}

INSTANTIATE_TEST_SUITE_P(All, NextTokenLayers,
                         testing::Values(Family{"deepseek2", "deepseek2/model.gguf", 2},
                                         Family{"qwen35moe", "qwen35moe/model-interval2.gguf", 1}),
                         [](const auto& one) { return one.param.architecture; });

}  // namespace
}  // namespace spectr
