// GGUF files of random models, written without holding all of their weights in memory.
#include "tests/card/random_llama.h"

#include <cmath>
#include <fstream>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "spectr/base/numeric.h"
#include "spectr/gguf/dequantize.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/random_tensor.h"

namespace spectr::card {
namespace {

constexpr std::size_t alignment = 32;
constexpr double sharpness = 5.0;    // standard deviation of the logits
constexpr double branch_size = 0.1;  // what a layer's branch adds, relative to the stream

/// Returns the standard deviation of a format's random numbers.
double deviation_of(TensorType type) {
  constexpr std::size_t count = 4096;
  std::vector<float> numbers(count);
  dequantize(type, test::random_tensor(type, 1, count, 1), numbers);
  double squares = 0;
  for (const float number : numbers) squares += double{number} * number;
  return std::sqrt(squares / count);
}

/// Writes tensors behind a header that a GgufWriter makes.
class TensorStream {
 public:
  explicit TensorStream(GgufWriter& header) : header_(header) {}

  void matrix(const std::string& name, TensorType type, std::size_t rows, std::size_t cols) {
    const auto key = std::tuple(type, rows, cols);
    auto found = matrices_.find(key);
    if (found == matrices_.end()) {
      const auto seed = static_cast<std::uint32_t>(matrices_.size() + 1);
      found = matrices_.emplace(key, test::random_tensor(type, rows, cols, seed)).first;
    }
    add(name, type, {cols, rows}, &found->second);
  }
  void vector(const std::string& name, std::size_t size, double value) {
    std::vector<float> numbers(size, static_cast<float>(value));
    const auto bytes = std::as_bytes(std::span(numbers));
    vectors_.emplace_back(bytes.begin(), bytes.end());
    add(name, TensorType::f32, {size}, nullptr);
  }

  void write(const std::filesystem::path& path) const {
    std::ofstream out(path, std::ios::binary);
    std::size_t at = put(out, header_.bytes()), next_vector = 0;
    for (const std::vector<std::byte>* const data : data_) {
      at = put(out, std::vector<std::byte>(round_up(at, alignment) - at)) + at;
      at += put(out, data != nullptr ? *data : vectors_[next_vector++]);
    }
    if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
  }

 private:
  static std::size_t put(std::ofstream& out, const std::vector<std::byte>& bytes) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes.size();
  }
  void add(const std::string& name, TensorType type, std::vector<std::uint64_t> shape,
           const std::vector<std::byte>* data) {
    header_.tensor({.name = name,
                    .type = static_cast<std::uint32_t>(type),
                    .shape = std::move(shape),
                    .offset = offset_,
                    .data_size = 0});
    offset_ += round_up(data != nullptr ? data->size() : vectors_.back().size(), alignment);
    data_.push_back(data);
  }

  GgufWriter& header_;
  std::map<std::tuple<TensorType, std::size_t, std::size_t>, std::vector<std::byte>> matrices_;
  std::vector<std::vector<std::byte>> vectors_;
  std::vector<const std::vector<std::byte>*> data_;  // null: the next vector
  std::size_t offset_ = 0;
};

GgufWriter header_of(const LlamaShape& shape) {
  GgufWriter header;
  header.set("general.architecture", "llama").set("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  const auto set = [&header](const std::string& key, std::size_t value) {
    header.set("llama." + key, static_cast<std::uint32_t>(value));
  };
  set("context_length", shape.context);
  set("embedding_length", shape.width);
  set("block_count", shape.layers);
  set("feed_forward_length", shape.ffn);
  set("attention.head_count", shape.heads);
  set("attention.head_count_kv", shape.kv_heads);
  set("rope.dimension_count", shape.head_dim());
  return header;
}

}  // namespace

void write_random_llama(const std::filesystem::path& file, const LlamaShape& shape,
                        const LlamaFormats& formats) {
  GgufWriter header = header_of(shape);
  TensorStream tensors(header);
  const double weight = deviation_of(formats.most), width = static_cast<double>(shape.width),
               ffn = static_cast<double>(shape.ffn);
  // The stream has the deviation of the embeddings. With norms of size s, values are s·w·√width each, and the
  // output of attention w·√width times that; the gate and the input of the FFN are s·w·√width each, and its
  // output w·√ffn times half of their product.
  const double attention = branch_size / (weight * width),
               feed_forward = std::sqrt(2.0 * branch_size / (weight * weight * width * std::sqrt(ffn)));
  const std::size_t kv = shape.kv_heads * shape.head_dim();
  tensors.matrix("token_embd.weight", formats.most, shape.vocabulary, shape.width);
  tensors.vector("output_norm.weight", shape.width,
                 sharpness / (deviation_of(formats.head) * std::sqrt(width)));
  tensors.matrix("output.weight", formats.head, shape.vocabulary, shape.width);
  for (std::size_t i = 0; i < shape.layers; ++i) {
    const auto name = [i](const char* part) { return "blk." + std::to_string(i) + "." + part + ".weight"; };
    const TensorType some = i % 3 == 0 ? formats.some : formats.most;
    tensors.vector(name("attn_norm"), shape.width, attention);
    tensors.matrix(name("attn_q"), formats.most, shape.width, shape.width);
    tensors.matrix(name("attn_k"), formats.most, kv, shape.width);
    tensors.matrix(name("attn_v"), some, kv, shape.width);
    tensors.matrix(name("attn_output"), formats.most, shape.width, shape.width);
    tensors.vector(name("ffn_norm"), shape.width, feed_forward);
    tensors.matrix(name("ffn_gate"), formats.most, shape.ffn, shape.width);
    tensors.matrix(name("ffn_up"), formats.most, shape.ffn, shape.width);
    tensors.matrix(name("ffn_down"), some, shape.width, shape.ffn);
  }
  tensors.write(file);
}

}  // namespace spectr::card
