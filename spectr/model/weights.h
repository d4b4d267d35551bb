#pragma once

#include <optional>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/kernels/matrix.h"
#include "spectr/model/gguf.h"
#include "spectr/model/model_config.h"

namespace spectr {

/// A linear map: x ↦ W x + b. No bias: empty.
struct Linear {
  Matrix weight;            ///< [out, in]
  std::vector<float> bias;  ///< [out] or empty
};

/// Parameters of a normalisation. No bias: root-mean-square norm. No weight: none at all.
struct Norm {
  std::vector<float> weight;  ///< [width] or empty
  std::vector<float> bias;    ///< [width] or empty
};

/// One block of the transformer.
struct LayerWeights {
  Norm attention_norm;
  Linear q, k, v;       ///< [heads · head_dim, width], [kv_heads · head_dim, width] twice
  Norm q_norm, k_norm;  ///< [head_dim], of every head; or none
  Linear attention_output;
  Norm ffn_norm;
  std::optional<Linear> gate;  ///< [ffn, width] where the feed-forward block is gated
  Linear up;                   ///< [ffn, width]
  Linear down;                 ///< [width, ffn]
};

/// All weights of a model, ready for multiplication. Matrices of unquantised formats refer to the file's
/// bytes.
struct Weights {
  Matrix token_embedding;                    ///< [vocabulary, width]
  std::optional<Matrix> position_embedding;  ///< [context, width], learned positions (gpt2)
  std::vector<float> rope_factors;           ///< [rope_dims / 2] divisors of the frequencies, or empty
  std::vector<LayerWeights> layers;
  Norm output_norm;
  std::optional<Linear> output;  ///< [vocabulary, width]; none: tied to token_embedding

  const Matrix& head() const { return output ? output->weight : token_embedding; }

  /// Calls `each` with every matrix that a pass multiplies by.
  template <class Each>
  void for_each_matrix(Each each) const {
    each(head());
    for (const LayerWeights& layer : layers) {
      for (const Linear* linear :
           {&layer.q, &layer.k, &layer.v, &layer.attention_output, &layer.up, &layer.down}) {
        each(linear->weight);
      }
      if (layer.gate) each(layer.gate->weight);
    }
  }

  /// Error: a tensor that is missing, has another shape than the configuration asks for, is stored in a
  /// format that is not supported, or that the configuration has no use for; by name. Throws std::bad_alloc
  /// where there is no memory for them.
  static Result<Weights> load(const Gguf& file, const ModelConfig& config, ThreadPool& pool);
};

}  // namespace spectr
