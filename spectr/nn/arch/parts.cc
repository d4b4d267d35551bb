#include "spectr/nn/arch/parts.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/names.h"

namespace spectr {
namespace {

// Limits larger than any model of these families, small enough that products of a few sizes do not overflow.
struct Limits {
  static constexpr std::uint64_t vocabulary = 1 << 24, context = 1 << 24, width = 1 << 18, heads = 1 << 12,
                                 head_dim = 1 << 12, ffn = 1 << 18;
};

/// Returns the head dimension of all layers, from a key or, without one, such that the heads fill the width.
Result<std::size_t> head_dimensions(ArchReader& in, const std::vector<std::size_t>& heads) {
  const std::string& file = in.file().name();
  const std::size_t width = in.spec().width, first = heads.front();
  if (!in.has("attention.key_length") && width % first != 0) {
    return error("{}: {} is {}, not a multiple of the {} heads", file, in.key("embedding_length"), width,
                 first);
  }
  SPECTR_TRY(const auto dim, in.count("attention.key_length", Limits::head_dim, width / first));
  if (dim < 1 || dim > Limits::head_dim) {
    return error("{}: {} is {} and {} is {}: heads of {} dimensions, but {} is the limit", file,
                 in.key("embedding_length"), width, in.key("attention.head_count"), first, dim,
                 Limits::head_dim);
  }
  const std::size_t max_heads = std::ranges::max(heads);
  if (max_heads * dim > Limits::width) {
    return error("{}: {} is {}: heads of {} dimensions have {} in all, but {} is the limit", file,
                 in.key("attention.head_count"), max_heads, dim, max_heads * dim, Limits::width);
  }
  return dim;
}

Result<void> read_heads(ArchReader& in, const DecoderRules& rules, DecoderKeys& keys) {
  const std::string& file = in.file().name();
  SPECTR_TRY(keys.heads, in.counts("attention.head_count", Limits::heads));
  const std::uint64_t least = rules.layers_without_attention ? 0 : 1;
  SPECTR_TRY(keys.kv_heads, in.counts("attention.head_count_kv", Limits::heads, keys.heads, least));
  for (std::size_t i = 0; i < keys.heads.size(); ++i) {
    if (keys.kv_heads[i] == 0 || keys.heads[i] % keys.kv_heads[i] == 0) continue;
    return error("{}: {} is {}, which does not divide the {} heads", file, in.key("attention.head_count_kv"),
                 keys.kv_heads[i], keys.heads[i]);
  }
  SPECTR_TRY(keys.head_dim, head_dimensions(in, keys.heads));
  SPECTR_TRY(const auto values, in.count("attention.value_length", Limits::head_dim, keys.head_dim));
  if (values != keys.head_dim && !rules.values_differ) {
    return error("{}: {} is {}, but keys have {}; both must be equal", file, in.key("attention.value_length"),
                 values, keys.head_dim);
  }
  return {};
}

/// Reads keys that would change the computation if they had other values than these.
Result<void> read_variants(ArchReader& in, const DecoderKeys& keys, const DecoderRules& rules) {
  constexpr std::string_view window_key = "attention.sliding_window";
  const auto context = static_cast<std::uint64_t>(in.spec().context);
  SPECTR_TRY(const auto window, in.file().integer(in.key(window_key), 0));
  if (window == 0 || window >= context) in.ignore({window_key});
  if (window >= context && window > 0)
    in.spec().max_context = std::min<std::size_t>(in.spec().max_context, window);
  SPECTR_TRY_VOID(in.neutral(window_key, static_cast<double>(context)));
  SPECTR_TRY(const bool causal, in.boolean("attention.causal", true));
  if (!causal && !rules.reads_causal) {
    return error("{}: {} is false: this model does not generate", in.file().name(),
                 in.key("attention.causal"));
  }
  struct Neutral {
    std::string_view name;
    double value;  ///< leaves the computation unchanged
  };
  for (const auto& [name, value] : {Neutral{"attention.clamp_kqv", 0},
                                    {"attention.max_alibi_bias", 0},
                                    {"attention.scale", 1 / std::sqrt(static_cast<double>(keys.head_dim))},
                                    {"attention.output_scale", 1},
                                    {"attention.temperature_scale", 0},
                                    {"attn_logit_softcapping", 0},
                                    {"final_logit_softcapping", 0},
                                    {"embedding_scale", 1},
                                    {"expert_count", 0},
                                    {"residual_scale", 1},
                                    {"logit_scale", 1}}) {
    SPECTR_TRY_VOID(in.neutral(name, value));
  }
  // These keys concern the tokenizer, the way tensors were written, or absent experts.
  in.ignore({"vocab_size", "tensor_data_layout", "expert_used_count", "expert_feed_forward_length",
             "expert_shared_feed_forward_length", "rope.scaling.finetuned"});
  return {};
}

Result<void> read_pooling(ArchReader& in) {
  constexpr std::string_view key = "pooling_type";
  if (!in.has(key)) return {};
  in.ignore({key});
  SPECTR_TRY(const auto number, in.file().integer(in.key(key)));
  if (number >= std::size(pooling_names)) {
    return error(ErrorCode::unsupported, "{}: {} is {}, but 0 to {} are supported", in.file().name(),
                 in.key(key), number, std::size(pooling_names) - 1);
  }
  in.spec().pooling = static_cast<Pooling>(number);
  return {};
}

/// Returns the rows of token_embd.weight: one for each token, so that every id has a text.
Result<std::size_t> vocabulary_size(const Gguf& file, std::size_t width) {
  constexpr std::string_view name = "token_embd.weight";
  const GgufTensor* tensor = file.tensor(name);
  if (file.tensors().empty()) return error("{}: there are no tensors, a vocabulary at most", file.name());
  if (!tensor) return error("{}: tensor {} is missing", file.name(), name);
  if (tensor->cols() != width || tensor->rows() != tensor->shape[1]) {
    return error("{}: tensor {} has the shape {} x {} x {} x {}, but must be {} x vocabulary", file.name(),
                 name, tensor->shape[0], tensor->shape[1], tensor->shape[2], tensor->shape[3], width);
  }
  if (tensor->rows() > Limits::vocabulary) {
    return error("{}: tensor {} has {} rows, but {} is the limit", file.name(), name, tensor->rows(),
                 Limits::vocabulary);
  }
  constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";
  SPECTR_TRY(const auto tokens, file.strings(tokens_key));
  if (!tokens.empty() && tokens.size() != tensor->rows()) {
    return error("{}: tensor {} has {} rows for the {} tokens of {}", file.name(), name, tensor->rows(),
                 tokens.size(), tokens_key);
  }
  return static_cast<std::size_t>(tensor->rows());
}

}  // namespace

std::string block(std::size_t layer, std::string_view part) {
  return fmt::format("blk.{}.{}", layer, part);
}

Result<DecoderKeys> decoder_keys(ArchReader& in, NormSpec::Kind norms, const DecoderRules& rules) {
  ModelSpec& spec = in.spec();
  SPECTR_TRY(spec.context, in.count("context_length", Limits::context));
  SPECTR_TRY(spec.width, in.count("embedding_length", Limits::width));
  DecoderKeys keys{};
  constexpr std::string_view ffn = "feed_forward_length", of_experts = "expert_feed_forward_length";
  const bool has_experts_alone = !in.has(ffn) && in.has(of_experts);
  SPECTR_TRY(keys.ffn, in.counts(has_experts_alone ? of_experts : ffn, Limits::ffn));
  SPECTR_TRY_VOID(read_heads(in, rules, keys));
  SPECTR_TRY_VOID(read_variants(in, keys, rules));
  SPECTR_TRY_VOID(read_pooling(in));
  constexpr std::string_view rms = "attention.layer_norm_rms_epsilon", mean = "attention.layer_norm_epsilon";
  in.ignore({rms, mean});
  SPECTR_TRY(keys.epsilon, in.real(norms == NormSpec::Kind::rms ? rms : mean, 1e-30, 1));
  return keys;
}

Result<void> embedding(ArchReader& in) {
  ModelSpec& spec = in.spec();
  SPECTR_TRY(spec.vocabulary, vocabulary_size(in.file(), spec.width));
  SPECTR_TRY(spec.embed.tokens, in.matrix("token_embd.weight", spec.vocabulary, spec.width));
  return {};
}

AttentionSpec attention_sizes(const DecoderKeys& keys, std::size_t layer) {
  AttentionSpec attention{};
  attention.heads = keys.heads[layer];
  attention.kv_heads = keys.kv_heads[layer];
  attention.head_dim = keys.head_dim;
  attention.scale = 1.0f / std::sqrt(static_cast<float>(keys.head_dim));
  return attention;
}

Result<void> separate_projections(ArchReader& in, std::size_t layer, ArchReader::Bias qkv_bias) {
  AttentionSpec& a = *in.spec().layers[layer].attention();
  const std::size_t width = in.spec().width, q = a.heads * a.head_dim, kv = a.kv_heads * a.head_dim;
  SPECTR_TRY(a.q, in.linear(block(layer, "attn_q"), q, width, qkv_bias));
  SPECTR_TRY(a.k, in.linear(block(layer, "attn_k"), kv, width, qkv_bias));
  SPECTR_TRY(a.v, in.linear(block(layer, "attn_v"), kv, width, qkv_bias));
  SPECTR_TRY(a.out, in.linear(block(layer, "attn_output"), width, q, ArchReader::Bias::optional));
  return {};
}

Result<void> head_norms(ArchReader& in, const DecoderKeys& keys, std::size_t layer) {
  constexpr auto rms = NormSpec::Kind::rms;
  AttentionSpec& attention = *in.spec().layers[layer].attention();
  SPECTR_TRY(attention.q_norm, in.norm(block(layer, "attn_q_norm"), keys.head_dim, rms, keys.epsilon));
  SPECTR_TRY(attention.k_norm, in.norm(block(layer, "attn_k_norm"), keys.head_dim, rms, keys.epsilon));
  return {};
}

Result<void> fused_heads(ArchReader& in, const DecoderKeys& keys) {
  for (std::size_t i = 0; i < keys.heads.size(); ++i) {
    if (keys.kv_heads[i] == keys.heads[i] && keys.heads[i] * keys.head_dim == in.spec().width) continue;
    return error("{}: {} is {} and {} is {}, of {} dimensions: must be equally many and make up the {} of {}",
                 in.file().name(), in.key("attention.head_count"), keys.heads[i],
                 in.key("attention.head_count_kv"), keys.kv_heads[i], keys.head_dim, in.spec().width,
                 in.key("embedding_length"));
  }
  return {};
}

Result<void> fused_projections(ArchReader& in, std::size_t layer, ArchReader::Bias bias) {
  AttentionSpec& a = *in.spec().layers[layer].attention();
  const std::size_t width = in.spec().width, q = a.heads * a.head_dim, kv = a.kv_heads * a.head_dim;
  const auto part = [&](std::size_t first, std::size_t count) {
    return in.part_of_linear(block(layer, "attn_qkv"), q + 2 * kv, width, bias, first, count);
  };
  SPECTR_TRY(a.q, part(0, q));
  SPECTR_TRY(a.k, part(q, kv));
  SPECTR_TRY(a.v, part(q + kv, kv));
  SPECTR_TRY(a.out, in.linear(block(layer, "attn_output"), width, q, bias));
  return {};
}

Result<void> projections(ArchReader& in, std::size_t layer, ArchReader::Bias bias) {
  const bool fused = in.has_tensor(block(layer, "attn_qkv.weight"));
  return fused ? fused_projections(in, layer, bias) : separate_projections(in, layer, bias);
}

Result<DenseSpec> gated_ffn(ArchReader& in, std::size_t layer, std::size_t width, Activation activation,
                            std::string_view suffix) {
  constexpr auto bias = ArchReader::Bias::optional;
  const std::size_t stream = in.spec().width;
  const auto name = [&](std::string_view part) { return block(layer, part) + std::string(suffix); };
  DenseSpec ffn{width, activation, {}, {}, {}};
  const GgufTensor* up = in.file().tensor(name("ffn_up") + ".weight");
  const bool has_both = up != nullptr && up->rows() == 2 * width;
  if (has_both && !in.has_tensor(name("ffn_gate") + ".weight")) {
    SPECTR_TRY(ffn.gate, in.part_of_linear(name("ffn_up"), 2 * width, stream, bias, 0, width));
    SPECTR_TRY(ffn.up, in.part_of_linear(name("ffn_up"), 2 * width, stream, bias, width, width));
  } else {
    SPECTR_TRY(ffn.gate, in.linear(name("ffn_gate"), width, stream, bias));
    SPECTR_TRY(ffn.up, in.linear(name("ffn_up"), width, stream, bias));
  }
  SPECTR_TRY(ffn.down, in.linear(name("ffn_down"), stream, width, bias));
  return ffn;
}

Result<DenseSpec> plain_ffn(ArchReader& in, std::size_t layer, std::size_t width, Activation activation) {
  constexpr auto bias = ArchReader::Bias::required;
  const std::size_t stream = in.spec().width;
  DenseSpec ffn{width, activation, {}, {}, {}};
  SPECTR_TRY(ffn.up, in.linear(block(layer, "ffn_up"), width, stream, bias));
  SPECTR_TRY(ffn.down, in.linear(block(layer, "ffn_down"), stream, width, bias));
  return ffn;
}

Result<void> head(ArchReader& in, NormSpec::Kind norm, float epsilon, bool may_be_tied,
                  std::string_view name_of_norm) {
  ModelSpec& spec = in.spec();
  SPECTR_TRY(spec.head.norm, in.norm(std::string(name_of_norm), spec.width, norm, epsilon));
  SPECTR_TRY(spec.head.output, output_matrix(in, may_be_tied));
  return {};
}

Result<LinearSpec> output_matrix(ArchReader& in, bool may_be_tied) {
  const ModelSpec& spec = in.spec();
  if (may_be_tied && !in.has_tensor("output.weight"))
    return LinearSpec{spec.embed.tokens, {}, spec.vocabulary, spec.width};
  return in.linear("output", spec.vocabulary, spec.width, ArchReader::Bias::optional);
}

namespace {

Result<void> read_attention(ArchReader& in, const GatedDecoder& family, const DecoderKeys& keys,
                            std::size_t layer) {
  in.spec().layers[layer].mixer = attention_sizes(keys, layer);
  SPECTR_TRY_VOID(projections(in, layer, family.qkv_bias));
  if (family.beside != nullptr) SPECTR_TRY_VOID(family.beside(in, keys, layer));
  return {};
}

}  // namespace

Result<void> gated_decoder(ArchReader& in, const GatedDecoder& family) {
  constexpr auto rms = NormSpec::Kind::rms;
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, rms, family.rules));
  SPECTR_TRY(RopeKeys rotation, rope_keys(in, keys.head_dim));
  rotation.scaling.rounds = family.rounds_yarn;
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  SPECTR_TRY(const RopeSpec positions, rope(in, rotation, family.pairs));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    const auto norm = [&](std::string_view part) {
      return in.norm(block(i, part), spec.width, rms, keys.epsilon);
    };
    if (family.norms != NormPlace::behind_blocks) {
      SPECTR_TRY(layer.mixer_norm, norm("attn_norm"));
      SPECTR_TRY(layer.ffn_norm, norm(family.ffn_norm));
    }
    if (family.norms != NormPlace::before_blocks) {
      SPECTR_TRY(layer.mixer_post_norm, norm("post_attention_norm"));
      SPECTR_TRY(layer.ffn_post_norm, norm("post_ffw_norm"));
    }
    bool has_mixer = false;
    if (family.other_mixer) {
      SPECTR_TRY(has_mixer, family.other_mixer(i, keys));
    }
    if (!has_mixer) SPECTR_TRY_VOID(read_attention(in, family, keys, i));
    if (AttentionSpec* attention = layer.attention()) attention->rope = positions;
    if (family.experts && i >= family.experts->leading_dense) {
      SPECTR_TRY_VOID(experts(in, *family.experts, i, keys.ffn[i], family.activation));
    } else {
      SPECTR_TRY(layer.ffn, gated_ffn(in, i, keys.ffn[i], family.activation));
    }
  }
  return head(in, rms, keys.epsilon, true, family.output_norm);
}

}  // namespace spectr
