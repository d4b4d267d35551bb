// Random drafters with combinations of options that the files in tests/data/drafters lack, compared with
// their definition in double precision.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/models/drafter_case.h"
#include "tests/support/models/drafter_definition.h"

namespace spectr {
namespace {

using test::DrafterCase;
using test::DrafterDefinition;

constexpr std::size_t target_width = 32, target_vocabulary = 320;

/// A drafter's file with random tensors.
class RandomDrafter {
 public:
  RandomDrafter(const std::string& architecture, std::uint32_t seed)
      : prefix_(architecture + "."), next_(seed) {
    file.set("general.architecture", architecture);
    set("context_length", 512U).set("attention.layer_norm_rms_epsilon", 1e-5F);
  }

  template <class T>
  RandomDrafter& set(const std::string& key, const T& value) {
    file.set(prefix_ + key, value);
    return *this;
  }
  /// Adds numbers within ±`spread` of `center`.
  void tensor(const std::string& name, std::vector<std::uint64_t> shape, double center = 0.0,
              double spread = 0.25) {
    std::size_t size = 1;
    for (const std::uint64_t extent : shape) size *= extent;
    std::vector<float> numbers;
    for (std::size_t i = 0; i < size; ++i) {
      numbers.push_back(
          static_cast<float>(center + spread * (static_cast<double>(next_()) / 2147483648.0 - 1)));
    }
    file.tensor({.name = name, .shape = std::move(shape), .numbers = std::move(numbers)});
  }
  void norm(const std::string& name, std::size_t size) { tensor(name, {size}, 1.0, 0.3); }
  /// Adds the target's tokens of `rows` rows, in no order.
  void map(std::size_t rows) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto token = static_cast<std::int64_t>(i * 77 % target_vocabulary);
      for (const float half : std::bit_cast<std::array<float, 2>>(token)) numbers.push_back(half);
    }
    file.tensor(
        {.name = "d2t", .type = 27, .shape = {rows}, .data_size = rows * 8, .numbers = std::move(numbers)});
  }

  GgufWriter file;

 private:
  std::string prefix_;
  std::mt19937 next_;
};

struct Eagle {
  std::string name;
  std::size_t width = target_width, heads = 4, kv_heads = 2, dim = 8, vocabulary = 0, rotated = 8;
  bool norms_features = false, normed_residual = false, own_embedding = false, own_head = false,
       factors = false;
  std::vector<std::int32_t> layers = {1, 2, 4};
};

std::vector<std::byte> eagle_file(const Eagle& e) {
  RandomDrafter drafter("eagle3", 11);
  const auto u32 = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  drafter.set("block_count", 1U).set("embedding_length", u32(e.width)).set("feed_forward_length", 24U);
  drafter.set("attention.head_count", u32(e.heads)).set("attention.head_count_kv", u32(e.kv_heads));
  drafter.set("attention.key_length", u32(e.dim)).set("attention.value_length", u32(e.dim));
  drafter.set("rope.dimension_count", u32(e.rotated)).set("rope.freq_base", 5000.0F);
  drafter.set("target_layers", e.layers).set("target_hidden_size", u32(target_width));
  drafter.set("norm_before_fc", e.norms_features).set("norm_before_residual", e.normed_residual);
  const std::size_t states = e.layers.size() * target_width;
  drafter.tensor("fc.weight", {states, e.width});
  if (e.norms_features) drafter.norm("enc.output_norm.weight", states);
  for (const char* part : {"attn_norm", "attn_norm_2", "ffn_norm"})
    drafter.norm("blk.0." + std::string(part) + ".weight", e.width);
  drafter.tensor("blk.0.attn_q.weight", {2 * e.width, e.heads * e.dim});
  for (const char* part : {"attn_k", "attn_v"})
    drafter.tensor("blk.0." + std::string(part) + ".weight", {2 * e.width, e.kv_heads * e.dim});
  drafter.tensor("blk.0.attn_output.weight", {e.heads * e.dim, e.width});
  for (const char* part : {"ffn_gate", "ffn_up"})
    drafter.tensor("blk.0." + std::string(part) + ".weight", {e.width, 24});
  drafter.tensor("blk.0.ffn_down.weight", {24, e.width});
  drafter.norm("output_norm.weight", e.width);
  if (e.own_embedding) drafter.tensor("token_embd.weight", {e.width, target_vocabulary}, 0, 1);
  if (e.own_head)
    drafter.tensor("output.weight", {e.width, e.vocabulary > 0 ? e.vocabulary : target_vocabulary}, 0, 0.5);
  if (e.vocabulary > 0) drafter.map(e.vocabulary);
  if (e.factors) drafter.tensor("rope_freqs.weight", {e.rotated / 2}, 3, 2);
  return drafter.file.bytes();
}

struct Dflash {
  std::string name;
  std::size_t heads = 4, kv_heads = 2, dim = 12, layers = 2, rows = 6, vocabulary = 0, window = 0;
  bool causal = false, sinks = false, factors = false, scales = false, own_embedding = false,
       own_head = false, own_values = true, post_norms = false, gelu = false, convolves = false,
       selects = false, is_chain = false, confidence = false;
  float embedding_scale = 0, value_scale = 0, attention_scale = 0, logit_scale = 0, cap = 0;
  std::vector<std::int32_t> taps = {1, 3, 4};
  int from_anchor = -1;  ///< sample_from_anchor; −1: absent
};

std::vector<std::byte> dflash_file(const Dflash& d) {
  RandomDrafter drafter("dflash", 12);
  const std::size_t n = target_width, ff = 24, rank = 6, kernel = 3, group = 8;
  const auto u32 = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  drafter.file.set("tokenizer.ggml.mask_token_id", 318U);
  drafter.set("block_count", u32(d.layers))
      .set("embedding_length", u32(n))
      .set("feed_forward_length", u32(ff));
  drafter.set("attention.head_count", u32(d.heads)).set("attention.head_count_kv", u32(d.kv_heads));
  drafter.set("attention.key_length", u32(d.dim)).set("attention.value_length", u32(d.dim));
  drafter.set("rope.freq_base", 20000.0F).set("target_layers", d.taps).set("block_size", u32(d.rows));
  if (d.causal) drafter.set("attention.causal", true);
  if (d.window > 0) {
    drafter.set("attention.sliding_window", u32(d.window));
    Bytes bytes;
    bytes.u32(static_cast<std::uint32_t>(GgufType::boolean)).u64(d.layers);
    for (std::size_t i = 0; i < d.layers; ++i) bytes.number(static_cast<std::uint8_t>(i % 2));
    drafter.file.entry("dflash.attention.sliding_window_pattern", GgufType::array, bytes);
  }
  const std::pair<const char*, float> factors[] = {{"embedding_scale", d.embedding_scale},
                                                   {"attention.value_scale", d.value_scale},
                                                   {"attention.scale", d.attention_scale},
                                                   {"logit_scale", d.logit_scale},
                                                   {"final_logit_softcapping", d.cap}};
  for (const auto& [key, factor] : factors)
    if (factor > 0) drafter.set(key, factor);
  if (d.gelu) drafter.set("hidden_activation", "gelu");
  if (d.from_anchor >= 0) drafter.set("sample_from_anchor", d.from_anchor == 1);
  if (d.convolves) drafter.set("conv_kernel_size", u32(kernel)).set("conv_group_size", u32(group));
  const auto matrix = [&](const std::string& name, std::size_t in, std::size_t out) {
    drafter.tensor(name + ".weight", {in, out});
    if (d.scales) drafter.tensor(name + ".scale", {1}, 1, 0.5);
  };
  matrix("fc", d.taps.size() * n, n);
  drafter.norm("enc.output_norm.weight", n);
  drafter.norm("output_norm.weight", n);
  for (std::size_t layer = 0; layer < d.layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    drafter.norm(block + "attn_norm.weight", n);
    drafter.norm(block + "ffn_norm.weight", n);
    matrix(block + "attn_q", n, d.heads * d.dim);
    matrix(block + "attn_k", n, d.kv_heads * d.dim);
    if (d.own_values) matrix(block + "attn_v", n, d.kv_heads * d.dim);
    matrix(block + "attn_output", d.heads * d.dim, n);
    drafter.norm(block + "attn_q_norm.weight", d.dim);
    drafter.norm(block + "attn_k_norm.weight", d.dim);
    matrix(block + "ffn_gate", n, ff);
    matrix(block + "ffn_up", n, ff);
    matrix(block + "ffn_down", ff, n);
    if (d.sinks) drafter.tensor(block + "attn_sinks.weight", {d.heads}, 0.5, 1);
    if (d.post_norms) {
      drafter.norm(block + "post_attention_norm.weight", n);
      drafter.norm(block + "post_ffw_norm.weight", n);
      drafter.tensor(block + "layer_output_scale.weight", {1}, 0.8, 0.1);
    }
    if (!d.convolves) continue;
    for (const char* part : {"attn_conv", "ffn_conv"}) {
      drafter.tensor(block + part + "_base", {n, kernel, 2}, 0.3, 0.3);
      matrix(block + part + "_proj", n, 2 * kernel * (n / group));
    }
  }
  const std::size_t rows = d.vocabulary > 0 ? d.vocabulary : target_vocabulary;
  if (d.own_embedding) drafter.tensor("token_embd.weight", {n, target_vocabulary}, 0, 1);
  if (d.own_head) matrix("output", n, rows);
  if (d.vocabulary > 0) drafter.map(d.vocabulary);
  if (d.factors) drafter.tensor("rope_freqs.weight", {d.dim / 2}, 3, 2);
  if (d.is_chain) {
    drafter.tensor("markov_w1.weight", {rank, target_vocabulary}, 0, 1);
    drafter.tensor("markov_w2.weight", {rank, rows}, 0, 1);
    if (d.scales) drafter.tensor("markov_w2.scale", {1}, 1, 0.5);
  }
  if (d.confidence) {
    drafter.set("has_confidence_head", true);
    drafter.tensor("conf_proj.weight", {n + rank, 1});
    drafter.tensor("conf_proj.bias", {1});
  }
  if (d.selects) {
    drafter.set("selector_rank", u32(rank)).set("selector_top_k", 7U);
    drafter.tensor("selector_predecessor.weight", {rank, target_vocabulary}, 0, 1);
    drafter.tensor("selector_successor.weight", {rank, target_vocabulary}, 0, 1);
    drafter.tensor("selector_hidden.weight", {n, rank});
  }
  return drafter.file.bytes();
}

/// Compares the drafter's logits along a path, after sequences of several lengths that share their beginning,
/// with the definition.
void expect_definition(const std::vector<std::byte>& bytes, const std::string& target_name) {
  static ThreadPool pool(2);
  const auto backend = std::make_shared<CpuBackend>(pool);
  const auto target_path = DrafterCase::folder() / (target_name + ".gguf");
  const Gguf target_file = Gguf::open(target_path).value();
  const Gguf file = Gguf::parse(bytes, "random.gguf").value();
  const auto target = Transformer::load(Gguf::open(target_path).value(), backend,
                                        {.kv = {KvType::f32, KvType::f32}, .taps = taps_of(file).value()})
                          .value();
  auto loaded = TrainedDrafter::load(Gguf::parse(bytes, "random.gguf").value(), *target, backend);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const TrainedDrafter& drafter = **loaded;
  const auto session = target->start(64, 16).value(), recorded = target->start(64, 16).value();
  const auto follower = drafter.follow(*session, {.nodes = 16}).value();
  recorded->features()->record(Features::Recorded::all);
  const DrafterDefinition definition(file, target_file);
  std::vector<Token> text;
  for (Token token = 0; token < 23; ++token) text.push_back((40 + 37 * token) % 300);
  ASSERT_TRUE(recorded->score(text, TokenTree(text.back())));
  std::vector<DrafterDefinition::Vector> states;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto features = recorded->features()->at(i);
    states.emplace_back(features.begin(), features.end());
  }
  const std::size_t steps = std::min<std::size_t>(drafter.max_depth(), 4);
  const std::vector<Token> ids = {77, 154, 231};
  for (const std::size_t length : {std::size_t{9}, std::size_t{14}, text.size()}) {
    const auto sequence = std::span(text).first(length);
    TokenTree tree(sequence.back());
    std::vector<NodeId> nodes = {TokenTree::root};
    for (std::size_t i = 0; i + 1 < steps; ++i) nodes.push_back(tree.child(nodes.back(), ids[i]));
    ASSERT_TRUE(follower->score(sequence, tree));
    const std::vector<DrafterDefinition::Vector> seen(
        states.begin(), states.begin() + static_cast<std::ptrdiff_t>(length) - 1);
    std::vector<Token> path = ids;
    path.resize(std::max(ids.size(), drafter.spec().block ? drafter.max_depth() : 0), 5);
    const auto expected = definition.steps(sequence, seen, path);
    for (std::size_t i = 0; i < steps; ++i) {
      const Logits found = follower->logits(nodes[i]);
      double off = 0.0, norm = 0.0;
      for (std::size_t v = 0; v < target_vocabulary; ++v) {
        const double by_definition = expected[i].logits[v], logit = found.at(static_cast<Token>(v));
        ASSERT_EQ(std::isfinite(logit), std::isfinite(by_definition)) << "step " << i << ", token " << v;
        if (!std::isfinite(logit)) continue;
        off += (logit - by_definition) * (logit - by_definition);
        norm += by_definition * by_definition;
      }
      EXPECT_LE(std::sqrt(off / norm), 1e-5) << "after " << length << " tokens, step " << i;
      if (const auto confidence = follower->confidence(nodes[i])) {
        EXPECT_NEAR(*confidence, expected[i].confidence, 1e-5);
      }
    }
    follower->keep({});
  }
}

TEST(DrafterVariants, OfEagle3AreTheDefinition) {
  const Eagle all[] = {
      {.name = "all options",
       .width = 24,
       .heads = 3,
       .kv_heads = 1,
       .dim = 16,
       .vocabulary = 60,
       .rotated = 16,
       .norms_features = true,
       .normed_residual = true,
       .own_embedding = true,
       .own_head = true,
       .factors = true},
      {.name = "partly rotated, two states", .rotated = 4, .norms_features = true, .layers = {0, 5}},
      {.name = "own embedding, the target's head",
       .kv_heads = 4,
       .normed_residual = true,
       .own_embedding = true},
      {.name = "the target's embedding, own head", .own_head = true, .factors = true},
  };
  for (const Eagle& one : all) {
    SCOPED_TRACE(one.name);
    expect_definition(eagle_file(one), "target-llama");
  }
}

TEST(DrafterVariants, OfBlockDraftersAreTheDefinition) {
  const Dflash all[] = {
      {.name = "causal, sinks, factors", .causal = true, .sinks = true, .factors = true},
      {.name = "scaled matrices, own head",
       .vocabulary = 70,
       .scales = true,
       .own_head = true,
       .value_scale = 0.7F,
       .attention_scale = 0.3F},
      {.name = "own embedding, whose rows are the head's",
       .window = 5,
       .sinks = true,
       .own_embedding = true,
       .embedding_scale = 1.5F},
      {.name = "values from keys, post-norms, window",
       .kv_heads = 1,
       .layers = 3,
       .window = 7,
       .own_values = false,
       .post_norms = true,
       .gelu = true},
      {.name = "predicts from its first row without a chain", .from_anchor = 1},
      {.name = "chain with a map, confidence, window",
       .vocabulary = 90,
       .window = 6,
       .scales = true,
       .own_head = true,
       .is_chain = true,
       .confidence = true},
      {.name = "chain from the second row, causal", .causal = true, .is_chain = true, .from_anchor = 0},
      {.name = "selector with convolutions, window, sinks, map",
       .vocabulary = 80,
       .window = 6,
       .sinks = true,
       .scales = true,
       .own_head = true,
       .post_norms = true,
       .convolves = true,
       .selects = true,
       .logit_scale = 0.6F,
       .cap = 4},
      {.name = "selector from the first row, without convolutions",
       .selects = true,
       .attention_scale = 0.2F,
       .from_anchor = 1},
  };
  for (const Dflash& one : all) {
    SCOPED_TRACE(one.name);
    expect_definition(dflash_file(one), "target-qwen3");
  }
}

}  // namespace
}  // namespace spectr
