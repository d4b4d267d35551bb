// A drafter's file that does not match its target is refused, with key or tensor and both values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/support/models/drafter_case.h"

namespace spectr {
namespace {

using test::DrafterCase;

std::vector<std::byte> bytes_of_drafter(const std::string& name) {
  std::ifstream in(DrafterCase::folder() / (name + ".gguf"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// Returns the first byte after `name`.
std::byte* after_name(std::vector<std::byte>& bytes, const std::string& name) {
  const auto as_bytes = std::as_bytes(std::span(name));
  const auto found = std::ranges::search(bytes, as_bytes);
  EXPECT_FALSE(found.empty()) << name;
  return bytes.data() + (found.end() - bytes.begin());
}

/// Replaces a name with another of the same length.
void rename(std::vector<std::byte>& bytes, const std::string& from, const std::string& to) {
  ASSERT_EQ(from.size(), to.size());
  std::memcpy(after_name(bytes, from) - from.size(), to.data(), to.size());
}

/// Replaces a u32 number in the metadata, or the first element of an array of them.
void set_number(std::vector<std::byte>& bytes, const std::string& key, std::uint32_t value,
                bool in_array = false) {
  const std::size_t header = in_array ? 4 + 4 + 8 : 4;
  std::memcpy(after_name(bytes, key) + header, &value, sizeof value);
}

/// Returns the numbers of an I64 tensor.
std::int64_t* integers_of(std::vector<std::byte>& bytes, const std::string& name) {
  const Gguf file = Gguf::parse(bytes, "found.gguf").value();
  const auto at = file.tensor(name)->bytes.data() - bytes.data();
  return reinterpret_cast<std::int64_t*>(bytes.data() + at);  // aligned, because the file's tensors are
}

struct Damage {
  std::string drafter;
  std::function<void(std::vector<std::byte>&)> make;
  std::string message;
};

/// Expects each damaged file to be refused for a target that takes the whole one.
void expect_refused(const std::filesystem::path& target_file, std::span<const Damage> all) {
  const Gguf target_gguf = Gguf::open(target_file).value();
  const ModelSpec target = read_model_spec(target_gguf).value();
  for (const Damage& damage : all) {
    auto bytes = bytes_of_drafter(damage.drafter);
    ASSERT_TRUE(read_drafter_spec(Gguf::parse(bytes, "whole.gguf").value(), target));
    damage.make(bytes);
    const auto refused = read_drafter_spec(Gguf::parse(bytes, "damaged.gguf").value(), target);
    ASSERT_FALSE(refused) << damage.message;
    EXPECT_EQ(refused.error().message, damage.message);
  }
}

TEST(DrafterErrors, NameTheKeyOrTensorAndBothValues) {
  const std::string target_file = DrafterCase::folder() / "target-llama.gguf";
  const Damage all[] = {
      {"eagle3-d2t", [](auto& b) { set_number(b, "eagle3.target_hidden_size", 48); },
       "damaged.gguf: eagle3.target_hidden_size is 48, but the width of the target " + target_file +
           " is 32"},
      {"eagle3-d2t", [](auto& b) { set_number(b, "eagle3.vocab_size", 300); },
       "damaged.gguf: eagle3.vocab_size is 300, but the vocabulary of the target " + target_file + " is 320"},
      {"eagle3-d2t", [](auto& b) { set_number(b, "eagle3.target_layers", 9, true); },
       "damaged.gguf: eagle3.target_layers has 9, but the target " + target_file + " has 5 layers"},
      {"eagle3-d2t", [](auto& b) { set_number(b, "eagle3.block_count", 2); },
       "damaged.gguf: eagle3.block_count is 2, but must be 1"},
      {"eagle3-d2t", [](auto& b) { set_number(b, "eagle3.embedding_length", 48); },
       "damaged.gguf: tensor token_embd.weight is missing: eagle3.embedding_length is 48, but the target " +
           target_file + " has 32"},
      {"eagle3-d2t", [](auto& b) { integers_of(b, "d2t")[3] = 320; },
       "damaged.gguf: tensor d2t is 320 in row 3, outside the target's vocabulary of 320"},
      {"eagle3-d2t", [](auto& b) { integers_of(b, "d2t")[3] = -1; },
       "damaged.gguf: tensor d2t is -1 in row 3, outside the target's vocabulary of 320"},
      {"eagle3-d2t", [](auto& b) { integers_of(b, "d2t")[3] = integers_of(b, "d2t")[1]; },
       "damaged.gguf: tensor d2t is 7 in row 3, which an earlier row has, too"},
      {"eagle3-d2t", [](auto& b) { rename(b, "fc.weight", "fx.weight"); },
       "damaged.gguf: tensor fc.weight is missing"},
      {"eagle3-d2t", [](auto& b) { rename(b, "rope_freqs.weight", "rope_fregs.weight"); },
       "damaged.gguf: tensor \"rope_fregs.weight\" is not used by eagle3 with 1 layers"},
      {"eagle3-d2t", [](auto& b) { rename(b, "eagle3.norm_before_fc", "eagle3.norm_before_fd"); },
       "damaged.gguf: eagle3.norm_before_fd is false: models of architecture eagle3 are not known to have "
       "this key"},
      {"dflash-8", [](auto& b) { set_number(b, "tokenizer.ggml.mask_token_id", 320); },
       "damaged.gguf: tokenizer.ggml.mask_token_id is 320, outside the target's vocabulary of 320"},
      {"dflash-8", [](auto& b) { rename(b, "tokenizer.ggml.mask_token_id", "tokenizer.ggml.mask_token_ix"); },
       "damaged.gguf: tokenizer.ggml.mask_token_id is missing"},
      {"dflash-8", [](auto& b) { set_number(b, "dflash.block_size", 1); },
       "damaged.gguf: dflash.block_size is 1, but must be 2 or more"},
      {"dspark-7", [](auto& b) { rename(b, "conf_proj.weight", "conf_prox.weight"); },
       "damaged.gguf: dflash.has_confidence_head is true, but tensor conf_proj.weight is missing"},
      {"dflash2-8", [](auto& b) { set_number(b, "dflash.selector_rank", 9); },
       "damaged.gguf: tensor selector_predecessor.weight is 320 × 8, expected 320 × 9"},
      {"dflash2-8", [](auto& b) { set_number(b, "dflash.conv_group_size", 7); },
       "damaged.gguf: dflash.conv_group_size is 7, which does not divide dflash.embedding_length, which is "
       "32"},
      {"dflash-16-window",
       [](auto& b) {
         rename(b, "dflash.attention.sliding_window_pattern", "unused.attention.sliding_window_pattern");
       },
       "damaged.gguf: dflash.attention.sliding_window is 11, but dflash.attention.sliding_window_pattern, an "
       "array, is missing"},
  };
  expect_refused(target_file, all);
}

TEST(DrafterErrors, NameTheLayersWhoseKeysAnAssistantCannotRead) {
  const std::string target_file = DrafterCase::folder() / "../arch2/gemma4/model.gguf";
  const std::string key = "gemma4-assistant.", error = "damaged.gguf: " + key;
  const Damage all[] = {
      {"assistant", [&](auto& b) { set_number(b, key + "embedding_length_out", 48); },
       error + "embedding_length_out is 48, but the width of the target " + target_file + " is 32"},
      {"assistant", [&](auto& b) { set_number(b, key + "nextn_predict_layers", 2); },
       error + "nextn_predict_layers is 2, but gemma4-assistant.block_count is 3; both must be equal"},
      {"assistant", [&](auto& b) { set_number(b, key + "attention.sliding_window", 9); },
       error + "attention.sliding_window is 9 in layer 0, but 8 in layer 3 of the target " + target_file +
           ", whose keys it reads"},
      {"assistant", [&](auto& b) { set_number(b, key + "attention.sliding_window", 1); },
       error + "attention.sliding_window is 1, but must be 2 or more: rows attend to earlier tokens only"},
      {"assistant", [&](auto& b) { set_number(b, key + "attention.head_count_kv", 1); },
       error + "attention.head_count_kv is 1 in layer 0, but 2 in layer 3 of the target " + target_file +
           ", whose keys it reads"},
      {"assistant",
       [](auto& b) { rename(b, "nextn.post_projection.weight", "nextn.post_projextion.weight"); },
       "damaged.gguf: tensor nextn.post_projection.weight is missing"},
      {"assistant", [](auto& b) { rename(b, "blk.1.attn_q_norm.weight", "blk.1.attn_k_norm.weight"); },
       "damaged.gguf: tensor blk.1.attn_q_norm.weight is missing"},
  };
  expect_refused(target_file, all);
}

/// The target's last layer but one has no window.
TEST(DrafterErrors, NameATargetWithoutTheWindowOfAnAssistant) {
  const std::string target_file = DrafterCase::folder() / "target-llama.gguf";
  const Gguf target = Gguf::open(target_file).value();
  const auto bytes = bytes_of_drafter("assistant");
  auto spec = read_model_spec(target).value();
  spec.vocabulary = 384;
  const auto refused = read_drafter_spec(Gguf::parse(bytes, "drafter.gguf").value(), spec);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "drafter.gguf: gemma4-assistant.attention.sliding_window is 8 in layer 0, but 0 in layer 3 of the "
      "target " +
          target_file + ", whose keys it reads");
}

TEST(DrafterErrors, NameTheTargetThatLacksALayer) {
  auto bytes = bytes_of_drafter("eagle3-d2t");
  set_number(bytes, "eagle3.target_layers", 6, true);
  const Gguf drafter = Gguf::parse(bytes, "drafter.gguf").value();
  const auto file = DrafterCase::folder() / "target-llama.gguf";
  ThreadPool pool(1);
  const auto loaded = Transformer::load(Gguf::open(file).value(), std::make_shared<CpuBackend>(pool),
                                        {.taps = taps_of(drafter).value()});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message,
            "drafter.gguf: eagle3.target_layers has 6, but " + file.string() + " has 5 layers");
}

}  // namespace
}  // namespace spectr
