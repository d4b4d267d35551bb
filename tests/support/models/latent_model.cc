#include "tests/support/models/latent_model.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "tests/support/gguf_writer.h"
#include "tests/support/random_tensor.h"

namespace spectr::test {
namespace {

constexpr std::size_t width = 32, ffn = 24, layers = 2, vocabulary = 40;

/// Returns the bytes as a tensor's numbers, one per word.
std::vector<float> words_of(const std::vector<std::byte>& bytes) {
  std::vector<float> words(bytes.size() / sizeof(float));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace

std::vector<std::byte> file_of(const LatentModel& m) {
  GgufWriter file = tiny_model("deepseek2");
  const auto set = [&file](std::string_view key, std::size_t value) {
    file.set("deepseek2." + std::string(key), static_cast<std::uint32_t>(value));
  };
  const std::size_t head = m.q_dim + m.rotated, kept = m.rank + m.rotated;
  set("embedding_length", width);
  set("block_count", layers);
  set("feed_forward_length", ffn);
  set("context_length", 512);
  set("attention.head_count", m.heads);
  set("attention.kv_lora_rank", m.rank);
  set("attention.key_length", kept);
  set("attention.value_length", m.rank);
  set("attention.key_length_mla", head);
  set("attention.value_length_mla", m.value_dim);
  set("rope.dimension_count", m.rotated);
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < vocabulary; ++i) tokens.push_back(fmt::format("t{}", i));
  file.set("tokenizer.ggml.tokens", tokens);
  file.without_tensors();
  std::uint32_t seed = 0;
  const auto matrix = [&](const std::string& name, std::size_t in, std::size_t out) {
    std::vector<float> numbers = random_floats(in * out, ++seed);
    for (float& one : numbers) one /= std::sqrt(static_cast<float>(in));
    file.tensor({.name = name + ".weight", .shape = {in, out}, .numbers = std::move(numbers)});
  };
  const auto norm = [&](const std::string& name, std::size_t size) {
    file.tensor({.name = name + ".weight", .shape = {size}, .numbers = random_floats(size, ++seed)});
  };
  const auto by_head = [&](const std::string& name, std::size_t in, std::size_t out) {
    const std::vector<std::byte> bytes = random_tensor(m.type, m.heads * out, in, ++seed);
    file.tensor({.name = name + ".weight",
                 .type = static_cast<std::uint32_t>(m.type),
                 .shape = {in, out, m.heads},
                 .numbers = words_of(bytes)});
  };
  matrix("token_embd", width, vocabulary);
  norm("output_norm", width);
  for (std::size_t i = 0; i < layers; ++i) {
    const auto name = [i](std::string_view part) { return fmt::format("blk.{}.{}", i, part); };
    norm(name("attn_norm"), width);
    matrix(name("attn_q"), width, m.heads * head);
    matrix(name("attn_kv_a_mqa"), width, kept);
    norm(name("attn_kv_a_norm"), m.rank);
    by_head(name("attn_k_b"), m.q_dim, m.rank);
    by_head(name("attn_v_b"), m.rank, m.value_dim);
    matrix(name("attn_output"), m.heads * m.value_dim, width);
    norm(name("ffn_norm"), width);
    matrix(name("ffn_gate"), width, ffn);
    matrix(name("ffn_up"), width, ffn);
    matrix(name("ffn_down"), ffn, width);
  }
  return file.bytes();
}

}  // namespace spectr::test
