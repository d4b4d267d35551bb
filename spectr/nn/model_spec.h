#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/gguf/tensor_type.h"
#include "spectr/nn/feature.h"
#include "spectr/nn/pooling.h"

namespace spectr {

/// A ModelSpec describes what a transformer computes, as data: an architecture's file (arch/) fills it in
/// from a model file, the graph walks it, and a backend executes it. It knows neither architectures nor
/// devices. All settings are per layer: layers may differ in everything.

/// Index of a weight in ModelSpec::weights.
using WeightId = std::uint32_t;

/// A tensor of the file, or some of its rows.
struct WeightSpec {
  std::string name;
  TensorType type;
  std::size_t rows, cols;  ///< of this weight; a vector has one row
  std::size_t first = 0;   ///< first row of the tensor; of a vector, its first element
  bool is_vector = false;  ///< a norm's weight or a bias: applied elementwise, not a matrix
  /// The rows (of a vector: elements) of the tensor that form this weight, if they are not contiguous.
  std::vector<Token> chosen = {};
  /// Matrices only: the first column in the tensor's rows, and their length; 0: whole rows.
  std::size_t first_col = 0, stored_cols = 0;
  bool transposed =
      false;  ///< matrices only: its columns are `cols` rows of the tensor, starting with row `first`
  bool of_target = false;  ///< a drafter reads it from the target's file

  friend bool operator==(const WeightSpec&, const WeightSpec&) = default;
};

/// x ↦ x / √(mean x² + ε) · weight, or, centred, x ↦ (x − mean x) / √(variance + ε) · weight + bias.
struct NormSpec {
  enum class Kind { rms, layer };
  Kind kind = Kind::rms;
  WeightId weight;
  std::optional<WeightId> bias;  ///< Kind::layer only
  float epsilon;
};

/// x ↦ W x + b.
struct LinearSpec {
  WeightId weight;  ///< [out, in]
  std::optional<WeightId> bias;
  std::size_t out, in;
  float scale = 1;  ///< factor of W x, in drafters only; then there is no bias
};

/// Rotary position embedding: pairs of `dims` dimensions of a head are rotated by position · frequency.
struct RopeSpec {
  std::size_t dims = 0;      ///< 0: none
  bool interleaved = false;  ///< pairs (2i, 2i+1); otherwise (i, i + dims/2)
  std::vector<float> frequencies =
      {};               ///< [dims / 2], radians per token, with the model's scaling and divisors applied
  float magnitude = 1;  ///< factor of cosines and sines: YaRN's and longrope's attention factor
  /// Frequencies for contexts (CacheSize) longer than `short_context`; empty: `frequencies`.
  std::vector<float> long_frequencies = {};
  std::size_t short_context = 0;
  std::size_t first = 0;  ///< first rotated dimension

  const std::vector<float>& frequencies_in(std::size_t context) const {
    return long_frequencies.empty() || context <= short_context ? frequencies : long_frequencies;
  }

  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

/// Multi-head latent attention. Per token, one vector is kept for the keys and values of all heads: c =
/// norm(down x), followed by the rotated dimensions. Each query head has its own matrices: score = (keys_up
/// q) · c + rotated q · rotated k, out = values_up Σ c.
struct LatentSpec {
  std::size_t rank;                  ///< length of c
  std::size_t q_dim;                 ///< length of a head's query before keys_up, without rotated dimensions
  std::size_t value_dim;             ///< length of a head's output after values_up
  std::optional<LinearSpec> q_down;  ///< AttentionSpec::q reads norm(q_down x); none: it reads x
  std::optional<NormSpec> q_norm;
  NormSpec norm;                               ///< gives c
  std::vector<LinearSpec> keys_up, values_up;  ///< one per head, [rank, q_dim] and [value_dim, rank]
};

/// Scales a rotated query: q · (scale log(⌊position / period⌋ + 1) + 1).
struct TemperatureSpec {
  float scale;
  std::size_t period;
};

struct AttentionSpec {
  std::size_t heads;     ///< query heads
  std::size_t kv_heads;  ///< heads of keys and values; divides heads
  std::size_t head_dim;  ///< length of a head's query, key and value
  float scale;           ///< factor of q·k
  RopeSpec rope;
  std::optional<NormSpec> q_norm, k_norm;  ///< per head or on the whole vector, before the rotation
  LinearSpec q, k, v, out;                 ///< k and v may be the same
  bool norms_whole_vector = false;         ///< q_norm and k_norm span all heads together
  std::optional<float>
      value_epsilon;       ///< ε of a root-mean-square norm of each head's value, without a weight
  std::size_t window = 0;  ///< positions that a token sees, itself included; 0: all
  float score_cap = 0;     ///< c tanh(score / c); 0: none
  std::optional<TemperatureSpec> temperature;
  std::optional<WeightId> sinks;       ///< [heads], one logit each, in the denominator only
  std::optional<LinearSpec> gate;      ///< [heads · head_dim, width], the output ⊙ σ(gate x)
  std::optional<std::size_t> kv_from;  ///< the layer whose keys and values it reads instead of its own
  bool kv_of_target = false;           ///< kv_from is a layer of a drafter's target
  std::optional<LatentSpec> latent;    ///< k then gives c and the rotated dimensions; v is unused
  float output_scale = 1;              ///< factor of the output of `out`
};

/// Gated delta rule: a mixer that keeps a matrix S per value head instead of keys and values. S ← e^g S, S ←
/// S + k (β (v − Sᵀk))ᵀ, o = Sᵀq, with β = σ(beta x), g = a softplus(alpha x + dt_bias). Queries, keys and
/// values are silu of a short convolution of qkv x (see ShortConvolutionSpec). Each head's queries and keys
/// are normalized to length one, and queries are divided by √head_dim. Value head h uses key head h mod
/// key_heads. The mixer's output is out (norm(o) ⊙ silu(z)).
struct DeltaNetSpec {
  std::size_t key_heads, value_heads, head_dim;
  std::size_t kernel;                   ///< kernel size of the convolution
  LinearSpec qkv, z, beta, alpha, out;  ///< qkv: queries and keys of key_heads, then values
  WeightId convolution;                 ///< [channels, kernel]
  WeightId a, dt_bias;                  ///< [value_heads]
  NormSpec norm;                        ///< per head, applied to o
  float epsilon;                        ///< minimum length by which a query or a key is divided

  std::size_t channels() const { return (2 * key_heads + value_heads) * head_dim; }
  std::size_t inner() const { return value_heads * head_dim; }
};

/// A short convolution as a mixer: out (c ⊙ Σ_j w[j] (b ⊙ u)[t − kernel + 1 + j]) with b, c, u = in x.
struct ShortConvolutionSpec {
  std::size_t kernel;
  LinearSpec in, out;  ///< in: [3 · width, width]
  WeightId weight;     ///< [width, kernel]
};

/// gelu: z Φ(z) with the normal distribution's Φ; gelu_tanh: its usual approximation. clamped_silu: g =
/// min(gate, c), u = clamp(up, −c, c), g σ(1.702 g) (u + 1).
enum class Activation { silu, gelu_tanh, relu, clamped_silu, gelu };

/// The dense feed-forward block: down(act(gate x) ⊙ up x), or down(act(up x)) without a gate.
struct DenseSpec {
  std::size_t width;
  Activation activation;
  std::optional<LinearSpec> gate;
  LinearSpec up, down;
  float clamp = 0;  ///< c of Activation::clamped_silu
};

/// Mixture of experts: Σ_e w_e · block_e(x) over the experts e that a router chooses for each token. With z =
/// router x, or router_scale · router norm(stream), and s = softmax z, σ(z) or z (depending on `gating`), the
/// `used` experts with the largest s + bias are chosen; ties go to the lower index. Their weights are w = s
/// without the bias (softmax_of_chosen: the softmax of the chosen z), divided by their sum if `normalized`,
/// times weights_scale.
struct ExpertsSpec {
  enum class Gating { softmax, sigmoid, softmax_of_chosen };
  std::size_t used;  ///< experts per token
  Gating gating;
  bool normalized;
  float weights_scale = 1;
  LinearSpec router;                        ///< [experts, width], of all experts
  std::optional<NormSpec> router_norm;      ///< norm of the stream, the router's input
  float router_scale = 1;                   ///< factor of the router's outputs
  std::vector<DenseSpec> blocks;            ///< one per expert; they differ only in their weights
  std::size_t first = 0;                    ///< expert of the first block; others' outputs are omitted
  std::optional<WeightId> selection_bias;   ///< [experts]
  std::size_t groups = 1, groups_used = 1;  ///< groups of experts; only the best groups are eligible
  std::optional<WeightId> scales;           ///< [experts], factor of each expert's output
};

/// The addition at a layer's end: norm(out (act(gate stream) ⊙ the layer's part of EmbedSpec::by_layer)).
struct LayerInputSpec {
  LinearSpec gate, out;  ///< [d, width] and [width, d]
  Activation activation;
  NormSpec norm;
};

/// Causal convolutions over the rows of a drafter's block, before and after a mixer or feed-forward block.
/// With a = factors h, where h is its input, side s maps row t of z to Σ_{τ < kernel, τ ≤ t} (base[s, τ] +
/// a_t[s, τ]) ⊙ z_{t−τ}: side 0 is applied to h, side 1 to its output. A factor a is shared by `group`
/// adjacent channels.
struct BlockConvolutionSpec {
  std::size_t kernel, group;
  WeightId base;       ///< [2 · kernel, width]
  LinearSpec factors;  ///< [2 · kernel · width / group, width]
};

/// One layer: x += mixer(norm x), x += feed-forward(norm x); with post norms x += norm(mixer(…)). The
/// feed-forward part is a dense block, experts, or the sum of both.
struct LayerSpec {
  std::optional<NormSpec> mixer_norm, ffn_norm;            ///< before the blocks
  std::optional<NormSpec> mixer_post_norm, ffn_post_norm;  ///< after them
  std::variant<AttentionSpec, DeltaNetSpec, ShortConvolutionSpec> mixer;
  std::optional<DenseSpec> ffn;
  std::optional<ExpertsSpec> experts;
  std::optional<LinearSpec> ffn_gate;  ///< [1, width], its σ scales the dense block
  std::optional<NormSpec>
      experts_norm;  ///< before the experts, if their input is not the one that the dense block reads
  std::optional<NormSpec> dense_post_norm, experts_post_norm;  ///< of the two outputs, before they are added
  std::optional<LayerInputSpec> input;
  float output_scale = 1;                                                  ///< factor of the layer's output
  std::optional<BlockConvolutionSpec> mixer_convolution, ffn_convolution;  ///< around the blocks
  bool parallel = false;                                                   ///< both blocks read the same x
  bool norms_stream =
      false;  ///< norms before the blocks replace the stream itself: x = norm x, then x += block(x)
  float residual_scale = 1;  ///< factor of a block's output

  const AttentionSpec* attention() const { return std::get_if<AttentionSpec>(&mixer); }
  AttentionSpec* attention() { return std::get_if<AttentionSpec>(&mixer); }
  const DeltaNetSpec* delta_net() const { return std::get_if<DeltaNetSpec>(&mixer); }
  const ShortConvolutionSpec* short_convolution() const { return std::get_if<ShortConvolutionSpec>(&mixer); }
};

/// Per-layer embeddings of each token, in addition to the stream's: (√d · tokens[t] + norm(projection x /
/// √width)) / √2. The norm spans each layer's d numbers; x is the stream before the first layer.
struct LayerEmbeddingSpec {
  std::size_t dim;        ///< d
  WeightId tokens;        ///< [vocabulary, layers · d]
  LinearSpec projection;  ///< [layers · d, width]
  NormSpec norm;          ///< [d]
};

struct EmbedSpec {
  WeightId tokens;                    ///< [vocabulary, width]
  std::size_t first = 0;              ///< token of the first row; tokens without a row have a zero embedding
  std::optional<WeightId> positions;  ///< [context, width], learned
  std::optional<WeightId> segments;   ///< [segments, width], selected by PassBatch::segments
  float scale = 1;
  std::optional<LayerEmbeddingSpec> by_layer;
};

struct HeadSpec {
  std::optional<NormSpec> norm;
  LinearSpec output;
  float cap = 0;    ///< soft cap of the logits, see AttentionSpec::score_cap
  float scale = 1;  ///< factor of the logits
  /// The tokens whose logits the output gives, ascending; all other logits are −∞, except those of a
  /// sequence's own tokens (PassBatch::extra_tokens). Empty: all.
  std::vector<Token> shortlist = {};
  /// Tokens that are never generated: their logits are −∞ whatever the output gives. Ascending.
  std::vector<Token> forbidden = {};
};

/// A state that a pass returns for each of its rows: the stream as the input of layer `layer`, before any
/// norm. The number of layers denotes the last layer's output.
struct TapSpec {
  std::size_t layer;
  bool normed = false;  ///< the last layer's output after the head's norm

  friend bool operator==(const TapSpec&, const TapSpec&) = default;
};

/// Maps the features of a target's token to a drafter's state: norm_after(linear(norm_before(x))).
struct FusionSpec {
  std::optional<NormSpec> norm_before;
  LinearSpec linear;  ///< [state, features]
  std::optional<NormSpec> norm_after;
};

/// The input of a drafter whose rows are a token and a state: [token_norm(embedding); state_norm(state)].
struct PairSpec {
  std::size_t token_width, state_width;
  std::optional<NormSpec> token_norm = {}, state_norm = {};
  /// Gives the stream. Without it, the first layer's mixer reads the pair, and the stream is the state.
  std::optional<LinearSpec> projection = {};
  bool normed_residual = false;  ///< without a projection, the stream is state_norm(state)
  /// Maps the pass's only tap to the state of the next row; none: the tap is the state.
  std::optional<LinearSpec> next_state = {};
};

struct ModelSpec {
  std::string file;          ///< source file, for messages
  std::string name;          ///< general.name, or the file's name; printable on one line (see escape())
  std::string architecture;  ///< general.architecture
  std::size_t vocabulary;    ///< rows of token_embd.weight, as many as the tokenizer has tokens
  std::size_t context;       ///< trained context, in positions
  /// Maximum number of positions. Rotary positions extrapolate, learned ones do not; a window that is omitted
  /// because it covers the trained context is a limit, too.
  std::size_t max_context = 1 << 24;
  std::size_t width;  ///< of the residual stream
  EmbedSpec embed;
  std::vector<LayerSpec> layers;
  HeadSpec head;
  std::vector<TapSpec> taps;
  /// True if each token attends to its whole sequence, which is then computed in one pass. Such a model is an
  /// encoder and does not generate.
  bool bidirectional = false;
  std::optional<Pooling> pooling;            ///< as the file says
  std::optional<ClassifierSpec> classifier;  ///< Pooling::rank only
  std::optional<FusionSpec> fusion;          ///< drafters only
  std::optional<PairSpec> pair;              ///< drafters only, instead of the embedding alone
  std::vector<WeightSpec> weights;
  std::vector<Requirement> requirements;
  std::vector<std::string> notes;  ///< settings of the file that the model ignores, one line each

  const WeightSpec& weight(WeightId id) const { return weights[id]; }
  /// Number of values that a pass returns per row.
  std::size_t feature_width() const;
  /// Number of values that a drafter's pass reads per row: features of a target, or a state.
  std::size_t input_width() const;
  /// True if a drafter's layers read keys and values of its target.
  bool reads_target_cache() const;
};

/// Calls each(const LinearSpec&) for every matrix product of a mixer. A product that gives both keys and
/// values is visited once.
template <class Each>
void for_each_linear(const decltype(LayerSpec::mixer)& mixer, Each each) {
  if (const auto* attention = std::get_if<AttentionSpec>(&mixer)) {
    if (attention->latent && attention->latent->q_down) each(*attention->latent->q_down);
    each(attention->q);
    if (!attention->kv_from) each(attention->k);
    if (!attention->kv_from && !attention->latent && attention->v.weight != attention->k.weight)
      each(attention->v);
    if (attention->latent) {
      for (const LinearSpec& head : attention->latent->keys_up) each(head);
      for (const LinearSpec& head : attention->latent->values_up) each(head);
    }
    if (attention->gate) each(*attention->gate);
    each(attention->out);
  } else if (const auto* delta = std::get_if<DeltaNetSpec>(&mixer)) {
    for (const LinearSpec* linear : {&delta->qkv, &delta->z, &delta->beta, &delta->alpha, &delta->out})
      each(*linear);
  } else {
    const auto& convolution = std::get<ShortConvolutionSpec>(mixer);
    each(convolution.in);
    each(convolution.out);
  }
}

/// Calls each(const LinearSpec&, double share) for every matrix product of a pass, the head's last. `share`
/// is the average fraction of the pass's rows that the product is computed for; it is 1 except for experts.
template <class Each>
void for_each_linear(const ModelSpec& spec, Each each) {
  const auto dense = [&each](const DenseSpec& block, double share) {
    if (block.gate) each(*block.gate, share);
    each(block.up, share);
    each(block.down, share);
  };
  if (spec.embed.by_layer) each(spec.embed.by_layer->projection, 1.0);
  if (spec.fusion) each(spec.fusion->linear, 1.0);
  if (spec.pair && spec.pair->projection) each(*spec.pair->projection, 1.0);
  if (spec.pair && spec.pair->next_state) each(*spec.pair->next_state, 1.0);
  for (const LayerSpec& layer : spec.layers) {
    for_each_linear(layer.mixer, [&each](const LinearSpec& linear) { each(linear, 1.0); });
    for (const auto& convolution : {layer.mixer_convolution, layer.ffn_convolution})
      if (convolution) each(convolution->factors, 1.0);
    if (layer.ffn_gate) each(*layer.ffn_gate, 1.0);
    if (layer.ffn) dense(*layer.ffn, 1.0);
    if (layer.experts) {
      const ExpertsSpec& experts = *layer.experts;
      each(experts.router, 1.0);
      const double share = static_cast<double>(experts.used) / static_cast<double>(experts.router.out);
      for (const DenseSpec& block : experts.blocks) dense(block, share);
    }
    if (layer.input) {
      each(layer.input->gate, 1.0);
      each(layer.input->out, 1.0);
    }
  }
  each(spec.head.output, 1.0);
}

}  // namespace spectr
