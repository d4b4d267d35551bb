#include "spectr/model/weights.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace spectr {
namespace {

/// Finds tensors by name and checks their shapes.
class Loader {
 public:
  Loader(const Gguf& file, ThreadPool& pool) : file_(file), pool_(pool) {}

  bool has(std::string_view name) const { return file_.tensor(name) != nullptr; }

  Result<Matrix> matrix(std::string_view name, std::size_t rows, std::size_t cols) const {
    SPECTR_TRY(const GgufTensor* tensor, find(name, rows, cols));
    return rows_of(*tensor, 0, rows);
  }

  Result<std::vector<float>> vector(std::string_view name, std::size_t size) const {
    SPECTR_TRY(const GgufTensor* tensor, find(name, 1, size));
    std::vector<float> out(size);
    rows_of(*tensor, 0, 1).row(0, out);
    return out;
  }

  /// PREFIX.weight and, where the file has it, PREFIX.bias.
  Result<Linear> linear(const std::string& prefix, std::size_t rows, std::size_t cols) const {
    SPECTR_TRY(Matrix weight, matrix(prefix + ".weight", rows, cols));
    SPECTR_TRY(std::vector<float> bias, optional_vector(prefix + ".bias", rows));
    return Linear{std::move(weight), std::move(bias)};
  }

  Result<Norm> norm(const std::string& prefix, std::size_t size, bool with_bias) const {
    SPECTR_TRY(std::vector<float> weight, vector(prefix + ".weight", size));
    if (!with_bias) return Norm{std::move(weight), {}};
    SPECTR_TRY(std::vector<float> bias, vector(prefix + ".bias", size));
    return Norm{std::move(weight), std::move(bias)};
  }

  /// Rows [begin, begin + count) of PREFIX.weight and PREFIX.bias, which have `rows` rows.
  Result<Linear> slice(const std::string& prefix, std::size_t rows, std::size_t cols, std::size_t begin,
                       std::size_t count) const {
    SPECTR_TRY(const GgufTensor* tensor, find(prefix + ".weight", rows, cols));
    SPECTR_TRY(const std::vector<float> bias, optional_vector(prefix + ".bias", rows));
    std::vector<float> part;
    if (!bias.empty()) part.assign(bias.data() + begin, bias.data() + begin + count);
    return Linear{rows_of(*tensor, begin, count), std::move(part)};
  }

  Result<std::vector<float>> optional_vector(const std::string& name, std::size_t size) const {
    if (!has(name)) return std::vector<float>{};
    return vector(name, size);
  }

 private:
  Result<const GgufTensor*> find(std::string_view name, std::size_t rows, std::size_t cols) const {
    const GgufTensor* tensor = file_.tensor(name);
    if (tensor == nullptr) return error("{}: tensor {} is missing", file_.name(), name);
    if (tensor->rows() != rows || tensor->cols() != cols) {
      return error("{}: tensor {} is {} × {}, expected {} × {}", file_.name(), name, tensor->rows(),
                   tensor->cols(), rows, cols);
    }
    return tensor;
  }

  Matrix rows_of(const GgufTensor& tensor, std::size_t begin, std::size_t count) const {
    const std::size_t row_bytes = tensor.bytes.size() / tensor.rows();
    return Matrix::pack(static_cast<TensorType>(tensor.type), count, tensor.cols(),
                        tensor.bytes.subspan(begin * row_bytes, count * row_bytes), pool_);
  }

  const Gguf& file_;
  ThreadPool& pool_;
};

Result<LayerWeights> load_layer(const Loader& from, const ModelConfig& c, std::size_t layer) {
  const bool gated = c.architecture == Architecture::llama || c.architecture == Architecture::qwen2;
  const bool fused = !gated;        // gpt2 and gptneox keep q, k and v in one tensor
  const bool layer_norms = !gated;  // and centre their norms
  const auto name = [layer](std::string_view part) { return fmt::format("blk.{}.{}", layer, part); };
  const std::size_t q_rows = c.heads * c.head_dim, kv_rows = c.kv_heads * c.head_dim;
  const auto projection = [&](std::string_view own, std::size_t begin, std::size_t rows) {
    return fused ? from.slice(name("attn_qkv"), q_rows + 2 * kv_rows, c.width, begin, rows)
                 : from.linear(name(own), rows, c.width);
  };

  SPECTR_TRY(Norm attention_norm, from.norm(name("attn_norm"), c.width, layer_norms));
  SPECTR_TRY(Linear q, projection("attn_q", 0, q_rows));
  SPECTR_TRY(Linear k, projection("attn_k", q_rows, kv_rows));
  SPECTR_TRY(Linear v, projection("attn_v", q_rows + kv_rows, kv_rows));
  SPECTR_TRY(Linear attention_output, from.linear(name("attn_output"), c.width, q_rows));
  SPECTR_TRY(Norm ffn_norm, from.norm(name("ffn_norm"), c.width, layer_norms));
  std::optional<Linear> gate;
  if (gated) {
    SPECTR_TRY(gate, from.linear(name("ffn_gate"), c.ffn, c.width));
  }
  SPECTR_TRY(Linear up, from.linear(name("ffn_up"), c.ffn, c.width));
  SPECTR_TRY(Linear down, from.linear(name("ffn_down"), c.width, c.ffn));
  return LayerWeights{
      std::move(attention_norm), std::move(q),    std::move(k),  std::move(v),   std::move(attention_output),
      std::move(ffn_norm),       std::move(gate), std::move(up), std::move(down)};
}

}  // namespace

Result<Weights> Weights::load(const Gguf& file, const ModelConfig& c, ThreadPool& pool) {
  const Loader from(file, pool);
  SPECTR_TRY(Matrix token_embedding, from.matrix("token_embd.weight", c.vocabulary, c.width));
  std::optional<Matrix> position_embedding;
  if (c.rope_dims == 0) {
    SPECTR_TRY(position_embedding, from.matrix("position_embd.weight", c.context, c.width));
  }
  SPECTR_TRY(std::vector<float> rope_factors, from.optional_vector("rope_freqs.weight", c.rope_dims / 2));
  for (float factor : rope_factors) {
    if (!(factor > 0.0f)) return error("{}: rope_freqs.weight holds {}", file.name(), factor);
  }
  std::vector<LayerWeights> layers;
  for (std::size_t i = 0; i < c.layers; ++i) {
    SPECTR_TRY(LayerWeights layer, load_layer(from, c, i));
    layers.push_back(std::move(layer));
  }
  const bool layer_norms = c.architecture == Architecture::gpt2 || c.architecture == Architecture::gptneox;
  SPECTR_TRY(Norm output_norm, from.norm("output_norm", c.width, layer_norms));
  std::optional<Linear> output;
  if (from.has("output.weight")) {
    SPECTR_TRY(output, from.linear("output", c.vocabulary, c.width));
  }
  return Weights{std::move(token_embedding), std::move(position_embedding), std::move(rope_factors),
                 std::move(layers),          std::move(output_norm),        std::move(output)};
}

}  // namespace spectr
