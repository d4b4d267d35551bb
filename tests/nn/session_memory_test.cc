// The KV cache takes memory as the text grows; running out of memory is an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <new>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/cpu/kv_store.h"
#include "spectr/nn/transformer.h"
#include "tests/support/gguf_writer.h"

namespace spectr {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t megabyte = 1 << 20;

/// Returns this program's resident bytes; 0 if the system does not report them.
std::int64_t resident() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(KvStore, TakesMemoryAsSlotsAreWritten) {
  if (resident() == 0) GTEST_SKIP() << "needs /proc";
  constexpr std::size_t layers = 8, heads = 16, slots = 1 << 11, width = 128;
  const KvLayout layout(std::vector(layers, KvLayout::Layer{heads, width}), {KvType::f32, KvType::f32});
  ASSERT_EQ(layout.bytes({slots, slots}), 256 * megabyte);
  const std::int64_t before = resident();
  BlockPool pool(layout.block_bytes());
  KvStore cache(layout, {slots, slots}, pool);
  const std::vector<float> row(width, 1.0F);
  const auto write = [&](std::size_t begin, std::size_t end) {
    cache.own(begin, end);
    for (std::size_t slot = begin; slot < end; ++slot) {
      for (std::size_t layer = 0; layer < layers; ++layer) {
        for (std::size_t head = 0; head < heads; ++head) cache.write(layer, head, slot, row, row);
      }
    }
  };
  write(0, 10);
  EXPECT_LT(resident() - before, 16 * megabyte) << "a short text of many heads";
  write(10, slots);
  EXPECT_GT(resident() - before, 250 * megabyte);
}

/// Adds the tensors of the layer that a tiny_llama() lacks.
void add_layer(GgufWriter& file, std::uint64_t ffn) {
  const auto add = [&file](std::string_view part, std::vector<std::uint64_t> shape) {
    file.tensor({.name = fmt::format("blk.0.{}.weight", part), .shape = std::move(shape)});
  };
  for (const char* norm : {"attn_norm", "ffn_norm"}) add(norm, {8});
  for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"}) add(part, {8, 8});
  for (const char* part : {"ffn_gate", "ffn_up"}) add(part, {8, ffn});
  add("ffn_down", {ffn, 8});
}

TEST(Session, OfALongContextTakesMemoryAsTheTextGrows) {
  if (resident() == 0) GTEST_SKIP() << "needs /proc";
  GgufWriter file = tiny_llama();  // a KV cache of 256 MiB, and 64 MiB of scores per thread
  file.set("llama.context_length", 1U << 22);
  add_layer(file, 16);
  const std::vector<std::byte> bytes = file.bytes();
  ThreadPool pool(1);
  const auto model =
      Transformer::load(Gguf::parse(bytes, "long.gguf").value(), std::make_shared<CpuBackend>(pool)).value();
  const std::int64_t before = resident();
  const auto session = model->start(0, 4).value();
  ASSERT_TRUE(session->score(std::vector<Token>{1, 3, 3}, TokenTree(3)));
  EXPECT_LT(resident() - before, 48 * megabyte);
}

TEST(Session, OfAWideModelTakesMemoryForTheRowsOfItsPasses) {
  if (resident() == 0) GTEST_SKIP() << "needs /proc";
  constexpr std::uint32_t ffn = 1 << 18;  // two numbers for each of these, in 128 rows, take 256 MiB
  GgufWriter file = tiny_llama();
  file.set("llama.feed_forward_length", ffn);
  add_layer(file, ffn);
  const std::vector<std::byte> bytes = file.bytes();
  ThreadPool pool(1);
  const auto model =
      Transformer::load(Gguf::parse(bytes, "wide.gguf").value(), std::make_shared<CpuBackend>(pool)).value();
  const std::int64_t before = resident();
  const auto session = model->start(16, 64).value();
  ASSERT_TRUE(session->score(std::vector<Token>{1, 3}, TokenTree(3)));
  EXPECT_LT(resident() - before, 48 * megabyte);
}

// The cache would exceed the address space of a process.
constexpr std::uint64_t context = 1 << 24, layers = 512, head_dim = 4096;

TEST(KvStore, ThrowsWhereThereIsNoMemory) {
  const KvLayout layout(std::vector(layers, KvLayout::Layer{1, head_dim}), {KvType::f32, KvType::f32});
  BlockPool pool(layout.block_bytes());
  EXPECT_THROW(KvStore(layout, CacheSize{context, context}, pool), std::bad_alloc);
}

/// Returns a llama of width 1 with a KV cache of 256 TiB.
std::vector<std::byte> greedy_llama() {
  GgufWriter file = tiny_llama();
  file.set("llama.context_length", context)
      .set("llama.embedding_length", 1U)
      .set("llama.block_count", layers)
      .set("llama.feed_forward_length", 1U)
      .set("llama.attention.head_count", 1U)
      .set("llama.attention.key_length", head_dim)
      .set("llama.attention.value_length", head_dim);
  file.without_tensors()
      .tensor({.name = "token_embd.weight", .shape = {1, 4}})
      .tensor({.name = "output_norm.weight", .shape = {1}});
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const auto add = [&](std::string_view part, std::uint64_t cols, std::uint64_t rows) {
      file.tensor({.name = fmt::format("blk.{}.{}.weight", layer, part), .shape = {cols, rows}});
    };
    for (const char* part : {"attn_norm", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"}) add(part, 1, 1);
    for (const char* part : {"attn_q", "attn_k", "attn_v"}) add(part, 1, head_dim);
    add("attn_output", head_dim, 1);
  }
  return file.bytes();
}

TEST(Session, SaysHowMuchMemoryThereIsNot) {
  const std::vector<std::byte> bytes = greedy_llama();
  ThreadPool pool(1);
  const auto model =
      Transformer::load(Gguf::parse(bytes, "greedy.gguf").value(), std::make_shared<CpuBackend>(pool))
          .value();
  const auto session = model->start(0, 1);
  ASSERT_FALSE(session);
  EXPECT_THAT(
      session.error().message,
      StartsWith(
          "greedy.gguf: there is no memory for a text of 16777216 tokens, whose keys and values take 28147"));
  EXPECT_THAT(session.error().message, HasSubstr("context_length is 16777216"));
  EXPECT_TRUE(model->start(64, 1)) << "a smaller context is no trouble";
}

}  // namespace
}  // namespace spectr
