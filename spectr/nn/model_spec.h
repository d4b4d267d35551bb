#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// What a transformer computes, as data: an architecture's file (arch/) fills it in from a model file, the
/// graph walks it, a backend executes it. Nothing here knows architectures or devices. Every layer has values
/// of its own: layers may differ in everything.

/// A tensor that the model reads, by its place in ModelSpec::weights.
using WeightId = std::uint32_t;

/// A tensor of the file, or some of its rows.
struct WeightSpec {
  std::string name;
  TensorType type;
  std::size_t rows, cols;  ///< of this weight; a vector has one row
  std::size_t first = 0;   ///< row of the tensor; of a vector, number
  bool is_vector = false;  ///< of norms and biases: added or multiplied by number, not a matrix
};

/// x ↦ x / √(mean x² + ε) · weight, or, centred, x ↦ (x − mean x) / √(variance + ε) · weight + bias.
struct NormSpec {
  enum class Kind { rms, layer };
  Kind kind = Kind::rms;
  WeightId weight;
  std::optional<WeightId> bias;  ///< of Kind::layer
  float epsilon;
};

/// x ↦ W x + b.
struct LinearSpec {
  WeightId weight;  ///< [out, in]
  std::optional<WeightId> bias;
  std::size_t out, in;
};

/// Rotary positions: pairs of a head's first `dims` dimensions turn by position · frequency.
struct RopeSpec {
  std::size_t dims = 0;            ///< 0: none
  bool interleaved = false;        ///< pairs (2i, 2i+1); otherwise (i, i + dims/2)
  std::vector<float> frequencies;  ///< [dims / 2], radians a token, scaled and divided as the model has it

  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

struct AttentionSpec {
  std::size_t heads;     ///< of queries
  std::size_t kv_heads;  ///< of keys and values; divides heads
  std::size_t head_dim;  ///< of queries, keys and values
  float scale;           ///< of q·k
  RopeSpec rope;
  std::optional<NormSpec> q_norm, k_norm;  ///< of each head, before it turns
  LinearSpec q, k, v, out;
  std::size_t window = 0;         ///< positions that a token sees, itself included; 0: all
  float score_cap = 0;            ///< c tanh(score / c); 0: none
  std::optional<WeightId> sinks;  ///< [heads], a logit each in the denominator only
};

enum class Activation { silu, gelu_tanh };

/// The dense feed-forward block: down(act(gate x) ⊙ up x), or down(act(up x)) without a gate.
struct DenseSpec {
  std::size_t width;
  Activation activation;
  std::optional<LinearSpec> gate;
  LinearSpec up, down;
};

/// Several such blocks, of which a router chooses some for every token.
struct ExpertsSpec {
  enum class Gating { softmax, sigmoid, softmax_of_chosen };
  std::size_t count, used, width;
  Activation activation;
  Gating gating;
  bool normalized;  ///< the chosen weights are divided by their sum
  float weights_scale;
  LinearSpec router;
  WeightId gate, up, down;  ///< [count · width, in] twice, [count · in, width]
  std::optional<DenseSpec> shared;
};

/// One layer: x += attention(norm x), x += feed-forward(norm x); with post norms x += norm(attention(…)).
struct LayerSpec {
  std::optional<NormSpec> attention_norm, ffn_norm;            ///< before the blocks
  std::optional<NormSpec> attention_post_norm, ffn_post_norm;  ///< after them
  AttentionSpec attention;
  DenseSpec ffn;
  std::optional<ExpertsSpec> experts;  ///< instead of ffn
  bool parallel = false;               ///< both blocks read the same x
  float residual_scale = 1;            ///< of what a block adds
};

struct EmbedSpec {
  WeightId tokens;                    ///< [vocabulary, width]
  std::optional<WeightId> positions;  ///< [context, width], learned
  float scale = 1;
};

struct HeadSpec {
  NormSpec norm;
  LinearSpec output;
  float cap = 0;    ///< of logits, as AttentionSpec::score_cap
  float scale = 1;  ///< of logits
};

/// The input of a layer (or, for the number of layers, the output of the last) that draft heads read.
struct TapSpec {
  std::size_t layer;
};

/// What not every backend has. See Requirement.
enum class Feature {
  sliding_window,
  score_cap,
  attention_sinks,
  experts,
  logit_cap,
  embedding_scale,
  residual_scale,
  logit_scale,
  taps,
};
std::string_view name_of(Feature feature);

/// A feature that the model needs, and where the file says so: "ARCH.attention.sliding_window is 4096".
struct Requirement {
  Feature feature;
  std::string source;
};

struct ModelSpec {
  std::string file;          ///< that it comes from, for messages
  std::string name;          ///< general.name, or the file's name; fit for a line of text (see escape())
  std::string architecture;  ///< general.architecture
  std::size_t vocabulary;    ///< rows of token_embd.weight, as many as the tokenizer has tokens
  std::size_t context;       ///< positions that it was trained for
  std::size_t width;         ///< of the residual stream
  EmbedSpec embed;
  std::vector<LayerSpec> layers;
  HeadSpec head;
  std::vector<TapSpec> taps;
  std::vector<WeightSpec> weights;
  std::vector<Requirement> requirements;

  const WeightSpec& weight(WeightId id) const { return weights[id]; }
};

/// Calls each(const LinearSpec&) for every matrix product of a pass, the head's last.
template <class Each>
void for_each_linear(const ModelSpec& spec, Each each) {
  for (const LayerSpec& layer : spec.layers) {
    for (const LinearSpec* linear :
         {&layer.attention.q, &layer.attention.k, &layer.attention.v, &layer.attention.out}) {
      each(*linear);
    }
    if (layer.ffn.gate) each(*layer.ffn.gate);
    each(layer.ffn.up);
    each(layer.ffn.down);
  }
  each(spec.head.output);
}

}  // namespace spectr
