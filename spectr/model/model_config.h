#pragma once

#include <cstddef>
#include <string>

#include "spectr/base/result.h"
#include "spectr/model/gguf.h"

namespace spectr {

/// Families of transformers whose graph is implemented.
enum class Architecture { llama, qwen2, gpt2, gptneox };

/// Hyperparameters of a transformer, read from `general.architecture` and `ARCH.*`.
struct ModelConfig {
  Architecture architecture;
  std::string name;        ///< general.name, or the file's name
  std::size_t vocabulary;  ///< rows of token_embd.weight
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
  bool rope_interleaved;   ///< pairs (2i, 2i+1); otherwise (i, i + rope_dims/2)
  bool parallel_residual;  ///< gptneox: attention and feed-forward read the same input

  /// Every value is checked (positive, bounded, divisible) against the others and against the shape of
  /// token_embd.weight; an unknown architecture, a rope scaling that is not implemented and a split file are
  /// errors that name it.
  static Result<ModelConfig> load(const Gguf& file);
};

}  // namespace spectr
