#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_rank = 1 << 14, max_head_dim = 1 << 12, max_context = 1 << 24;
constexpr auto rms = NormSpec::Kind::rms;
constexpr auto no_bias = ArchReader::Bias::optional;

/// Sizes of latent attention. The dimensions are those of a head outside the latent space.
struct LatentKeys {
  std::size_t q_rank;  ///< 0: queries are computed directly from the stream
  std::size_t rank, head_dim, value_dim;
  bool joined;  ///< older files: one matrix for a head's keys and values, other names of keys
};

Result<LatentKeys> latent_keys(ArchReader& in) {
  LatentKeys keys{};
  keys.joined = in.has_tensor(block(0, "attn_kv_b.weight"));
  if (in.has("attention.q_lora_rank")) {
    SPECTR_TRY(keys.q_rank, in.count("attention.q_lora_rank", max_rank));
  }
  SPECTR_TRY(keys.rank, in.count("attention.kv_lora_rank", max_rank));
  const auto length = [&keys](std::string_view what) {
    return fmt::format("attention.{}_length{}", what, keys.joined ? "" : "_mla");
  };
  SPECTR_TRY(keys.head_dim, in.count(length("key"), max_head_dim));
  SPECTR_TRY(keys.value_dim, in.count(length("value"), max_head_dim));
  in.require_if(true, Feature::latent_attention, "attention.kv_lora_rank");
  return keys;
}

/// Reads the matrices [out, in] of each head from a tensor [heads, out, in].
Result<std::vector<LinearSpec>> by_head(ArchReader& in, const std::string& name, std::size_t heads,
                                        std::size_t out_size, std::size_t in_size) {
  std::vector<LinearSpec> all;
  for (std::size_t h = 0; h < heads; ++h) {
    SPECTR_TRY(const WeightId id, in.rows_of(name, heads * out_size, in_size, h * out_size, out_size));
    all.push_back({id, {}, out_size, in_size});
  }
  return all;
}

/// Reads the heads' matrices from one tensor that has, for each head, the matrix of keys [q_dim, rank]
/// followed by that of values [value_dim, rank].
Result<void> take_joined(ArchReader& in, const std::string& name, std::size_t heads, LatentSpec& latent) {
  const std::size_t of_head = latent.q_dim + latent.value_dim, all = heads * of_head, rank = latent.rank;
  for (std::size_t h = 0; h < heads; ++h) {
    SPECTR_TRY(const WeightId keys, in.transposed_rows_of(name, all, rank, h * of_head, latent.q_dim));
    SPECTR_TRY(const WeightId values,
               in.rows_of(name, all, rank, h * of_head + latent.q_dim, latent.value_dim));
    latent.keys_up.push_back({keys, {}, rank, latent.q_dim});
    latent.values_up.push_back({values, {}, latent.value_dim, rank});
  }
  return {};
}

Result<AttentionSpec> latent_attention(ArchReader& in, const DecoderKeys& keys, const LatentKeys& sizes,
                                       const RopeSpec& positions, float scale, std::size_t layer) {
  const std::size_t width = in.spec().width, heads = keys.heads[layer];
  const auto name = [layer](std::string_view part) { return block(layer, part); };
  AttentionSpec a = attention_sizes(keys, layer);
  a.kv_heads = 1;
  a.head_dim = sizes.rank + positions.dims;
  a.scale = scale;
  a.rope = positions;
  a.rope.first = sizes.rank;
  LatentSpec latent{};
  latent.rank = sizes.rank;
  latent.q_dim = sizes.head_dim - positions.dims;
  latent.value_dim = sizes.value_dim;
  if (sizes.q_rank > 0) {
    SPECTR_TRY(latent.q_down, in.linear(name("attn_q_a"), sizes.q_rank, width, no_bias));
    SPECTR_TRY(latent.q_norm, in.norm(name("attn_q_a_norm"), sizes.q_rank, rms, keys.epsilon));
    SPECTR_TRY(a.q, in.linear(name("attn_q_b"), heads * sizes.head_dim, sizes.q_rank, no_bias));
  } else {
    SPECTR_TRY(a.q, in.linear(name("attn_q"), heads * sizes.head_dim, width, no_bias));
  }
  SPECTR_TRY(a.k, in.linear(name("attn_kv_a_mqa"), sizes.rank + positions.dims, width, no_bias));
  SPECTR_TRY(latent.norm, in.norm(name("attn_kv_a_norm"), sizes.rank, rms, keys.epsilon));
  if (sizes.joined) {
    SPECTR_TRY_VOID(take_joined(in, name("attn_kv_b.weight"), heads, latent));
  } else {
    SPECTR_TRY(latent.keys_up, by_head(in, name("attn_k_b.weight"), heads, sizes.rank, latent.q_dim));
    SPECTR_TRY(latent.values_up, by_head(in, name("attn_v_b.weight"), heads, sizes.value_dim, sizes.rank));
  }
  SPECTR_TRY(a.out, in.linear(name("attn_output"), width, heads * sizes.value_dim, no_bias));
  a.latent = std::move(latent);
  return a;
}

/// Returns the default gating. Files of GLM-4.7-Flash lack the key; layers and vocabulary identify them.
Result<ExpertsSpec::Gating> usual_gating(ArchReader& in) {
  constexpr std::size_t vocabulary = 154880;
  SPECTR_TRY(const auto tokens, in.file().strings("tokenizer.ggml.tokens"));
  const std::size_t layers = in.spec().layers.size();
  const bool is_glm = (layers == 47 || layers == 48) && tokens.size() == vocabulary;
  return is_glm ? ExpertsSpec::Gating::sigmoid : ExpertsSpec::Gating::softmax;
}

}  // namespace

/// deepseek2: latent attention, in which a token has one short vector for the keys and values of all heads,
/// followed by the rotated dimensions; interleaved rotary pairs; experts after the first layers, next to a
/// block that all tokens share.
Result<void> read_deepseek2(ArchReader& in) {
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const LatentKeys latent, latent_keys(in));
  SPECTR_TRY(const auto gating, usual_gating(in));
  SPECTR_TRY(const auto experts_of_layers, experts_or_none(in, gating, false));
  constexpr std::string_view temperature_key = "attention.temperature_scale";
  SPECTR_TRY(const float temperature, in.real(temperature_key, 0, 1e3, 0));
  SPECTR_TRY(const std::size_t period, in.count_or_none("attention.temperature_length", max_context));
  in.require_if(temperature > 0, Feature::attention_temperature, temperature_key);
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, rms, {.values_differ = true}));
  SPECTR_TRY(RopeKeys rotation, rope_keys(in, latent.head_dim - 1));
  // The file has a tenth of the multiplier. It applies to the scale of scores, not to the rotations.
  const float factor = rotation.scaling.kind == RopeScaling::Kind::yarn && rotation.scaling.factor > 1
                           ? 1 + rotation.scaling.log_multiplier * std::log(rotation.scaling.factor)
                           : 1;
  const float magnitude = rotation.scaling.attention_factor * factor;
  if (rotation.scaling.kind == RopeScaling::Kind::yarn) rotation.scaling.log_multiplier = 1;
  const float scale = magnitude * magnitude / std::sqrt(static_cast<float>(latent.head_dim));
  SPECTR_TRY_VOID(in.end_of_keys());
  if (temperature > 0 && period == 0) {
    return error("{}: {} is {}, but {} is missing", in.file().name(), in.key(temperature_key), temperature,
                 in.key("attention.temperature_length"));
  }
  if (!latent.joined && keys.head_dim != latent.rank + rotation.dims) {
    return error("{}: {} is {}, but {} and {} are {} and {}", in.file().name(),
                 in.key("attention.key_length"), keys.head_dim, in.key("attention.kv_lora_rank"),
                 in.key("rope.dimension_count"), latent.rank, rotation.dims);
  }

  SPECTR_TRY_VOID(embedding(in));
  SPECTR_TRY(const RopeSpec positions, rope(in, rotation, RopePairs::interleaved));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    if (const std::size_t heads = latent.joined ? keys.heads[i] : 1; keys.kv_heads[i] != heads) {
      return error("{}: {} is {}: such latent attention has {}", in.file().name(),
                   in.key("attention.head_count_kv"), keys.kv_heads[i], heads);
    }
    SPECTR_TRY(layer.mixer_norm, in.norm(block(i, "attn_norm"), spec.width, rms, keys.epsilon));
    SPECTR_TRY(AttentionSpec attention, latent_attention(in, keys, latent, positions, scale, i));
    if (temperature > 0) attention.temperature = TemperatureSpec{temperature, period};
    layer.mixer = std::move(attention);
    SPECTR_TRY(layer.ffn_norm, in.norm(block(i, "ffn_norm"), spec.width, rms, keys.epsilon));
    if (experts_of_layers && i >= experts_of_layers->leading_dense) {
      SPECTR_TRY_VOID(experts(in, *experts_of_layers, i, keys.ffn[i], Activation::silu));
    } else {
      SPECTR_TRY(layer.ffn, gated_ffn(in, i, keys.ffn[i]));
    }
  }
  return head(in, rms, keys.epsilon, true);
}

}  // namespace spectr
