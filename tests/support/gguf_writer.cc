#include "tests/support/gguf_writer.h"

#include <algorithm>
#include <utility>

#include "spectr/gguf/tensor_type.h"

namespace spectr {
namespace {

/// Returns the size in bytes of a well-formed tensor's data; 0 if the tensor is invalid.
std::size_t proper_size(const WrittenTensor& tensor) {
  const auto format = tensor_format(tensor.type);
  if (!format) return 0;
  std::size_t elements = 1;
  for (const std::uint64_t dimension : tensor.shape) elements *= dimension;
  return elements / format->elements * format->bytes;
}

}  // namespace

Bytes& Bytes::text(std::string_view characters) {
  const auto* begin = reinterpret_cast<const std::byte*>(characters.data());
  data_.insert(data_.end(), begin, begin + characters.size());
  return *this;
}

Bytes& Bytes::zeros(std::size_t count) {
  data_.resize(data_.size() + count);
  return *this;
}

Bytes& Bytes::append(const Bytes& other) {
  data_.insert(data_.end(), other.data_.begin(), other.data_.end());
  return *this;
}

Bytes& Bytes::pad(std::size_t multiple) {
  return zeros((multiple - size() % multiple) % multiple);
}

GgufWriter& GgufWriter::set(std::string_view key, std::string_view value) {
  return entry(key, GgufType::string, Bytes().string(value));
}

GgufWriter& GgufWriter::entry(std::string_view key, GgufType type, const Bytes& value) {
  Entry entry{std::string(key), Bytes().string(key).u32(static_cast<std::uint32_t>(type)).append(value)};
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found != entries_.end()) {
    *found = std::move(entry);
  } else {
    entries_.push_back(std::move(entry));
  }
  return *this;
}

GgufWriter& GgufWriter::remove(std::string_view key) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
  return *this;
}

GgufWriter& GgufWriter::raw_entry(const Bytes& bytes) {
  entries_.push_back({"", bytes});
  return *this;
}

GgufWriter& GgufWriter::tensor(WrittenTensor tensor) {
  data_.pad(alignment);
  Bytes description;
  description.string(tensor.name)
      .u32(tensor.dimensions.value_or(static_cast<std::uint32_t>(tensor.shape.size())));
  for (const std::uint64_t dimension : tensor.shape) description.u64(dimension);
  description.u32(tensor.type).u64(tensor.offset.value_or(data_.size()));
  for (const float number : tensor.numbers) data_.u32(std::bit_cast<std::uint32_t>(number));
  data_.zeros(tensor.data_size.value_or(proper_size(tensor)) - 4 * tensor.numbers.size());
  return raw_tensor(description);
}

GgufWriter& GgufWriter::raw_tensor(const Bytes& bytes) {
  descriptions_.append(bytes);
  ++tensor_count_;
  return *this;
}

GgufWriter& GgufWriter::without_tensors() {
  tensor_count_ = 0;
  descriptions_ = data_ = {};
  return *this;
}

std::vector<std::byte> GgufWriter::bytes() const {
  Bytes file;
  file.text(magic).u32(version);
  file.u64(claimed_tensors.value_or(tensor_count_)).u64(claimed_entries.value_or(entries_.size()));
  for (const Entry& entry : entries_) file.append(entry.bytes);
  file.append(descriptions_);
  if (data_.size() > 0) file.pad(alignment).append(data_);
  return file.data();
}

GgufWriter tiny_model(const std::string& architecture) {
  const bool layer_norms = architecture == "gpt2" || architecture == "gptneox" || architecture == "opt" ||
                           architecture.ends_with("bert");
  const std::string epsilon = layer_norms ? "layer_norm_epsilon" : "layer_norm_rms_epsilon";
  GgufWriter file;
  file.set("general.architecture", architecture)
      .set(architecture + ".context_length", 64U)
      .set(architecture + ".embedding_length", 8U)
      .set(architecture + ".block_count", 1U)
      .set(architecture + ".feed_forward_length", 16U)
      .set(architecture + ".attention.head_count", 2U)
      .set(architecture + ".attention." + epsilon, 1e-5F)
      .tensor({.name = "token_embd.weight", .shape = {8, 4}});
  const auto set = [&](std::string_view key, auto value) {
    file.set(architecture + "." + std::string(key), value);
  };
  if (architecture.ends_with("moe") || architecture == "gpt-oss") {
    set("expert_count", 4U);
    set("expert_used_count", 2U);
    set("expert_feed_forward_length", 16U);
  }
  if (architecture.starts_with("lfm2")) {
    set("shortconv.l_cache", 3U);
  }
  if (architecture.starts_with("qwen35")) {
    set("ssm.conv_kernel", 4U);
    set("ssm.state_size", 4U);
    set("ssm.time_step_rank", 2U);
    set("ssm.group_count", 1U);
    set("ssm.inner_size", 8U);
    set("full_attention_interval", 2U);
  }
  if (architecture.ends_with("bert")) {
    set("attention.causal", false);
  }
  if (architecture == "gemma4") {
    set("attention.key_length_swa", 4U);
  }
  if (architecture == "deepseek2") {
    set("attention.head_count_kv", 1U);
    set("attention.kv_lora_rank", 4U);
    set("attention.key_length", 6U);
    set("attention.value_length", 4U);
    set("attention.key_length_mla", 5U);
    set("attention.value_length_mla", 4U);
    set("rope.dimension_count", 2U);
  }
  return file;
}

GgufWriter tiny_llama() {
  return tiny_model("llama")
      .set("general.name", "tiny")
      .set("tokenizer.ggml.model", "llama")
      .set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", "a"})
      .set("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -1})
      .set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 1})
      .tensor({.name = "output_norm.weight", .shape = {8}});
}

}  // namespace spectr
