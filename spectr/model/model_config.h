#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/model/gguf.h"

namespace spectr {

/// Families of transformers whose graph is implemented.
enum class Architecture { llama, qwen2, qwen3, gpt2, gptneox };

/// As `general.architecture` has it.
std::string_view name_of(Architecture architecture);

/// The matrices of a layer that are nothing without a bias; the others may have one.
enum class Biases { none, of_queries_keys_values, of_all };

/// What the models of an architecture have in common.
struct Family {
  Architecture architecture;
  std::string_view name;          ///< as `general.architecture` has it
  bool rotates = true;            ///< has rotary positions
  bool rope_interleaved = false;  ///< pairs (2i, 2i+1); otherwise (i, i + rope_dims/2)
  bool layer_norms = false;       ///< norms are centred and have a bias; otherwise root-mean-square norms
  bool head_norms = false;        ///< every head of queries and keys is normalised before it is rotated
  bool fused_qkv = false;         ///< one matrix makes queries, keys and values
  bool gated = true;              ///< the feed-forward block has a gate
  bool may_tie = true;            ///< without a matrix of its own, the output is the token embedding
  Biases biases = Biases::none;   ///< that must be there
};

/// Hyperparameters of a transformer, read from `general.architecture` and `ARCH.*`.
struct ModelConfig : Family {
  std::string file;        ///< that it comes from, for messages
  std::string name;        ///< general.name, or the file's name; fit for a line of text (see escape())
  std::size_t vocabulary;  ///< rows of token_embd.weight, as many as the tokenizer has tokens
  std::size_t context;     ///< positions it was trained for
  std::size_t width;       ///< of the residual stream
  std::size_t layers;
  std::size_t heads;
  std::size_t kv_heads;  ///< divides heads
  std::size_t head_dim;  ///< of queries, keys and values
  std::size_t ffn;       ///< inner width of the feed-forward block
  float norm_epsilon;
  std::size_t rope_dims;  ///< leading dimensions of a head that are rotated; 0: none (gpt2)
  float rope_base;
  float rope_scale;        ///< positions are divided by it (linear scaling); 1: none
  bool parallel_residual;  ///< gptneox: attention and feed-forward read the same input

  /// Every value is checked (positive, bounded, divisible) against the others, against the shape of
  /// token_embd.weight and the number of tokens in `tokenizer.ggml.tokens`, where the file has them; an
  /// unknown architecture, a split file, and a key that asks for a computation that is not implemented (a
  /// rope scaling, a scale, a cap on logits) are errors that name it.
  static Result<ModelConfig> load(const Gguf& file);
};

}  // namespace spectr
