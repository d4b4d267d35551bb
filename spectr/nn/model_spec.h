#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/token.h"
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
  /// The tensor's rows (numbers) that it has, where they do not follow one another.
  std::vector<Token> chosen = {};
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
  float magnitude = 1;             ///< of cosines and sines: YaRN's and longrope's attention factor

  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

/// Keys and values that are kept as one short vector for all heads (multi-head latent attention).
struct LatentSpec {
  std::size_t rank;             ///< of the vector, without its rotated dimensions
  LinearSpec down;              ///< [rank + rotated dimensions, width]
  NormSpec norm;                ///< of the rank's numbers
  WeightId keys_up, values_up;  ///< [kv_heads · head_dim, rank] twice
};

struct AttentionSpec {
  std::size_t heads;     ///< of queries
  std::size_t kv_heads;  ///< of keys and values; divides heads
  std::size_t head_dim;  ///< of queries, keys and values
  float scale;           ///< of q·k
  RopeSpec rope;
  std::optional<NormSpec> q_norm, k_norm;  ///< of each head, or of the whole vector, before it turns
  LinearSpec q, k, v, out;
  bool norms_whole_vector = false;     ///< q_norm and k_norm are of all heads together
  bool normalizes_values = false;      ///< each head's value: root-mean-square, without a weight
  std::size_t window = 0;              ///< positions that a token sees, itself included; 0: all
  float score_cap = 0;                 ///< c tanh(score / c); 0: none
  float temperature_scale = 0;         ///< s: q · (s log(⌊position / context⌋ + 1) + 1), after it has turned
  std::optional<WeightId> sinks;       ///< [heads], a logit each in the denominator only
  std::optional<LinearSpec> gate;      ///< [heads · head_dim, width], the output ⊙ σ(gate x)
  std::optional<std::size_t> kv_from;  ///< the layer whose keys and values it reads instead of its own
  std::optional<LatentSpec> latent;    ///< instead of k and v
};

/// A mixer that keeps a state instead of keys and values: gated delta rule, S ← e^g S, S ← S + k (β (v −
/// Sᵀk))ᵀ, o = Sᵀq, behind a short convolution.
struct DeltaNetSpec {
  std::size_t key_heads, value_heads, head_dim, kernel;
  LinearSpec qkv, z, beta, alpha, out;
  WeightId convolution, a, dt_bias;
  NormSpec norm;
};

/// A mixer of the last tokens alone: c ⊙ Σ_j w[j] (b ⊙ u)[t − kernel + 1 + j].
struct ShortConvolutionSpec {
  std::size_t kernel;
  LinearSpec in, out;
  WeightId weight;
};

/// clamped_silu: g = min(gate, c), u = clamp(up, −c, c), g σ(1.702 g) (u + 1).
enum class Activation { silu, gelu_tanh, clamped_silu };

/// The dense feed-forward block: down(act(gate x) ⊙ up x), or down(act(up x)) without a gate.
struct DenseSpec {
  std::size_t width;
  Activation activation;
  std::optional<LinearSpec> gate;
  LinearSpec up, down;
  float clamp = 0;  ///< c of Activation::clamped_silu
};

/// Several such blocks, of which a router chooses some for every token: Σ_e w_e · block_e(x) over the chosen
/// e. With z = router x and s = softmax z, σ(z) or z by the kind of gating, the `used` experts of the largest
/// s + bias are chosen, the lower one of two that are equal. Their weights are w = s without the bias (with
/// softmax_of_chosen: the softmax of the chosen z), divided by their sum where they are normalized, times the
/// scale.
struct ExpertsSpec {
  enum class Gating { softmax, sigmoid, softmax_of_chosen };
  std::size_t used;  ///< experts of a token
  Gating gating;
  bool normalized;
  float weights_scale = 1;
  LinearSpec router;                        ///< [experts, width]
  std::vector<DenseSpec> blocks;            ///< by expert; alike but for their weights
  std::optional<WeightId> selection_bias;   ///< [experts]
  std::size_t groups = 1, groups_used = 1;  ///< of experts; only the best groups' are chosen from
  std::optional<WeightId> scales;           ///< [experts], of each expert's output
  std::optional<DenseSpec> shared;          ///< for every token
  std::optional<LinearSpec> shared_gate;    ///< σ of it scales the shared block
};

/// One layer: x += attention(norm x), x += feed-forward(norm x); with post norms x += norm(attention(…)).
struct LayerSpec {
  std::optional<NormSpec> attention_norm, ffn_norm;            ///< before the blocks
  std::optional<NormSpec> attention_post_norm, ffn_post_norm;  ///< after them
  AttentionSpec attention;
  std::optional<DeltaNetSpec> delta_net;                  ///< instead of attention
  std::optional<ShortConvolutionSpec> short_convolution;  ///< instead of attention
  std::optional<DenseSpec> ffn;
  std::optional<ExpertsSpec> experts;    ///< instead of ffn, or beside it
  std::optional<WeightId> output_scale;  ///< [1], of the stream behind the layer
  bool parallel = false;                 ///< both blocks read the same x
  float residual_scale = 1;              ///< of what a block adds
};

struct EmbedSpec {
  WeightId tokens;                    ///< [vocabulary, width]
  std::optional<WeightId> positions;  ///< [context, width], learned
  float scale = 1;
  std::optional<WeightId>
      by_layer;  ///< [vocabulary, layers · d], added to each layer's stream through a gate
};

struct HeadSpec {
  NormSpec norm;
  LinearSpec output;
  float cap = 0;    ///< of logits, as AttentionSpec::score_cap
  float scale = 1;  ///< of logits
  /// The tokens whose logits the output gives, ascending; the others' are −∞, but for a sequence's own
  /// tokens (PassBatch::own_words). Empty: all.
  std::vector<Token> shortlist = {};
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
  attention_temperature,
  gated_attention,
  latent_attention,
  shared_keys,
  value_norms,
  whole_vector_norms,
  rope_magnitude,
  recurrent_mixer,
  short_convolution,
  experts,
  expert_groups,
  expert_scales,
  blocks_beside_experts,
  clamped_activation,
  logit_cap,
  embedding_scale,
  layer_embeddings,
  residual_scale,
  output_scale,
  logit_scale,
  taps,
  shortlist,
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
  std::vector<std::string> notes;  ///< what the file says and the model computes without, a line each

  const WeightSpec& weight(WeightId id) const { return weights[id]; }
};

/// Calls each(const LinearSpec&, double share) for every matrix product of a pass, the head's last. `share`:
/// of the pass's rows that it is computed for, on average; 1 for all but experts.
template <class Each>
void for_each_linear(const ModelSpec& spec, Each each) {
  const auto dense = [&each](const DenseSpec& block, double share) {
    if (block.gate) each(*block.gate, share);
    each(block.up, share);
    each(block.down, share);
  };
  for (const LayerSpec& layer : spec.layers) {
    for (const LinearSpec* linear :
         {&layer.attention.q, &layer.attention.k, &layer.attention.v, &layer.attention.out}) {
      each(*linear, 1.0);
    }
    if (layer.ffn) dense(*layer.ffn, 1.0);
    if (!layer.experts) continue;
    const ExpertsSpec& experts = *layer.experts;
    each(experts.router, 1.0);
    const double share = static_cast<double>(experts.used) / static_cast<double>(experts.blocks.size());
    for (const DenseSpec& block : experts.blocks) dense(block, share);
  }
  each(spec.head.output, 1.0);
}

}  // namespace spectr
