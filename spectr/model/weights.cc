#include "spectr/model/weights.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "spectr/base/keyed_hash.h"
#include "spectr/base/quote.h"
#include "spectr/kernels/aligned_bytes.h"
#include "spectr/kernels/dequantise.h"
#include "spectr/model/stored_format.h"

namespace spectr {
namespace {

enum class Bias { optional, required };

/// Finds tensors by name, checks their shapes and remembers which were asked for.
class Loader {
 public:
  Loader(const Gguf& file, ThreadPool& pool) : file_(file), pool_(pool) {}

  bool has(std::string_view name) const { return file_.tensor(name) != nullptr; }

  Result<Matrix> matrix(std::string_view name, std::size_t rows, std::size_t cols) {
    SPECTR_TRY(const GgufTensor* tensor, find(name, rows, cols));
    return rows_of(*tensor, 0, rows);
  }

  Result<std::vector<float>> vector(std::string_view name, std::size_t size) {
    SPECTR_TRY(const GgufTensor* tensor, find(name, 1, size));
    std::vector<float> out(size);
    dequantise(static_cast<TensorType>(tensor->type), tensor->bytes, out);
    return out;
  }

  Result<std::vector<float>> optional_vector(std::string_view name, std::size_t size) {
    if (!has(name)) return std::vector<float>{};
    return vector(name, size);
  }

  /// PREFIX.weight and PREFIX.bias, or of both the rows [begin, begin + count).
  Result<Linear> linear(const std::string& prefix, std::size_t rows, std::size_t cols, Bias bias) {
    return slice(prefix, rows, cols, bias, 0, rows);
  }
  Result<Linear> slice(const std::string& prefix, std::size_t rows, std::size_t cols, Bias bias,
                       std::size_t begin, std::size_t count) {
    SPECTR_TRY(const GgufTensor* tensor, find(prefix + ".weight", rows, cols));
    const std::string name = prefix + ".bias";
    SPECTR_TRY(const std::vector<float> all,
               bias == Bias::required ? vector(name, rows) : optional_vector(name, rows));
    std::vector<float> part;
    if (!all.empty()) part.assign(all.data() + begin, all.data() + begin + count);
    return Linear{rows_of(*tensor, begin, count), std::move(part)};
  }

  Result<Norm> norm(const std::string& prefix, std::size_t size, bool with_bias) {
    SPECTR_TRY(std::vector<float> weight, vector(prefix + ".weight", size));
    if (!with_bias) return Norm{std::move(weight), {}};
    SPECTR_TRY(std::vector<float> bias, vector(prefix + ".bias", size));
    return Norm{std::move(weight), std::move(bias)};
  }

  /// A tensor that nobody asked for is a part of the model that would be left out of the computation.
  Result<void> refuse_unused(const ModelConfig& config) const {
    for (const GgufTensor& tensor : file_.tensors()) {
      if (used_.contains(tensor.name)) continue;
      return error("{}: tensor {} is not used by {} with {} layers", file_.name(), quote(tensor.name),
                   name_of(config.architecture), config.layers);
    }
    return {};
  }

 private:
  Result<const GgufTensor*> find(std::string_view name, std::size_t rows, std::size_t cols) {
    const GgufTensor* tensor = file_.tensor(name);
    if (tensor == nullptr) return error("{}: tensor {} is missing", file_.name(), name);
    used_.insert(tensor->name);
    if (!tensor_format(tensor->type)) {
      return error("{}: tensor {} is {}; supported are {}", file_.name(), name,
                   stored_format(tensor->type)->name, supported_formats());
    }
    if (tensor->rows() != rows || tensor->cols() != cols) {
      return error("{}: tensor {} is {} × {}, expected {} × {}", file_.name(), name, tensor->rows(),
                   tensor->cols(), rows, cols);
    }
    return tensor;
  }

  Matrix rows_of(const GgufTensor& tensor, std::size_t begin, std::size_t count) {
    const std::size_t row_bytes = tensor.bytes.size() / tensor.rows();
    const auto bytes = tensor.bytes.subspan(begin * row_bytes, count * row_bytes);
    Matrix matrix =
        Matrix::pack(static_cast<TensorType>(tensor.type), count, tensor.cols(), bytes, pool_, &pages_);
    if (!matrix.borrows()) file_.forget(bytes);  // else weights would be in memory twice
    return matrix;
  }

  const Gguf& file_;
  ThreadPool& pool_;
  SharedPages pages_;
  std::unordered_set<std::string_view, KeyedHash> used_;
};

Result<LayerWeights> load_layer(Loader& from, const ModelConfig& c, std::size_t layer) {
  const auto name = [layer](std::string_view part) { return fmt::format("blk.{}.{}", layer, part); };
  const std::size_t q_rows = c.heads * c.head_dim, kv_rows = c.kv_heads * c.head_dim;
  const Bias bias = c.biases == Biases::of_all ? Bias::required : Bias::optional,
             qkv_bias = c.biases == Biases::none ? Bias::optional : Bias::required;
  const auto projection = [&](std::string_view own, std::size_t begin, std::size_t rows) {
    return c.fused_qkv ? from.slice(name("attn_qkv"), q_rows + 2 * kv_rows, c.width, qkv_bias, begin, rows)
                       : from.linear(name(own), rows, c.width, qkv_bias);
  };

  SPECTR_TRY(Norm attention_norm, from.norm(name("attn_norm"), c.width, c.layer_norms));
  SPECTR_TRY(Linear q, projection("attn_q", 0, q_rows));
  SPECTR_TRY(Linear k, projection("attn_k", q_rows, kv_rows));
  SPECTR_TRY(Linear v, projection("attn_v", q_rows + kv_rows, kv_rows));
  Norm q_norm, k_norm;
  if (c.head_norms) {
    SPECTR_TRY(q_norm, from.norm(name("attn_q_norm"), c.head_dim, false));
    SPECTR_TRY(k_norm, from.norm(name("attn_k_norm"), c.head_dim, false));
  }
  SPECTR_TRY(Linear attention_output, from.linear(name("attn_output"), c.width, q_rows, bias));
  SPECTR_TRY(Norm ffn_norm, from.norm(name("ffn_norm"), c.width, c.layer_norms));
  std::optional<Linear> gate;
  if (c.gated) {
    SPECTR_TRY(gate, from.linear(name("ffn_gate"), c.ffn, c.width, bias));
  }
  SPECTR_TRY(Linear up, from.linear(name("ffn_up"), c.ffn, c.width, bias));
  SPECTR_TRY(Linear down, from.linear(name("ffn_down"), c.width, c.ffn, bias));
  return LayerWeights{std::move(attention_norm),
                      std::move(q),
                      std::move(k),
                      std::move(v),
                      std::move(q_norm),
                      std::move(k_norm),
                      std::move(attention_output),
                      std::move(ffn_norm),
                      std::move(gate),
                      std::move(up),
                      std::move(down)};
}

}  // namespace

Result<Weights> Weights::load(const Gguf& file, const ModelConfig& c, ThreadPool& pool) {
  Loader from(file, pool);
  SPECTR_TRY(Matrix token_embedding, from.matrix("token_embd.weight", c.vocabulary, c.width));
  std::optional<Matrix> position_embedding;
  if (c.rope_dims == 0) {
    SPECTR_TRY(position_embedding, from.matrix("position_embd.weight", c.context, c.width));
  }
  SPECTR_TRY(std::vector<float> rope_factors, from.optional_vector("rope_freqs.weight", c.rope_dims / 2));
  for (float factor : rope_factors) {
    if (!(factor >= 1e-6f && factor <= 1e6f))
      return error("{}: rope_freqs.weight holds {}, but must hold numbers from 1e-06 to 1e+06", file.name(),
                   factor);
  }
  std::vector<LayerWeights> layers;
  for (std::size_t i = 0; i < c.layers; ++i) {
    SPECTR_TRY(LayerWeights layer, load_layer(from, c, i));
    layers.push_back(std::move(layer));
  }
  SPECTR_TRY(Norm output_norm, from.norm("output_norm", c.width, c.layer_norms));
  std::optional<Linear> output;
  if (!c.may_tie || from.has("output.weight")) {
    SPECTR_TRY(output, from.linear("output", c.vocabulary, c.width, Bias::optional));
  }
  SPECTR_TRY_VOID(from.refuse_unused(c));
  return Weights{std::move(token_embedding), std::move(position_embedding), std::move(rope_factors),
                 std::move(layers),          std::move(output_norm),        std::move(output)};
}

}  // namespace spectr
