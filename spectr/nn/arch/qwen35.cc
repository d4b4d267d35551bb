#include <vector>

#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_heads = 1 << 12, max_head_dim = 1 << 10, max_width = 1 << 18;

/// Keys of gated delta nets.
struct DeltaNetKeys {
  std::size_t key_heads, value_heads, head_dim, kernel;
  std::vector<bool> layers;  ///< true for layers with a delta net instead of attention
};

Result<DeltaNetKeys> delta_net_keys(ArchReader& in) {
  DeltaNetKeys keys{};
  SPECTR_TRY(keys.kernel, in.count("ssm.conv_kernel", state_grid));
  SPECTR_TRY(keys.head_dim, in.count("ssm.state_size", max_head_dim));
  SPECTR_TRY(keys.value_heads, in.count("ssm.time_step_rank", max_heads));
  SPECTR_TRY(keys.key_heads, in.count("ssm.group_count", keys.value_heads));
  SPECTR_TRY(const std::size_t inner, in.count("ssm.inner_size", max_width));
  in.require_if(true, Feature::recurrent_mixer, "ssm.state_size");
  in.require_if(true, Feature::gated_attention, "ssm.state_size");
  if (keys.value_heads % keys.key_heads != 0) {
    return error("{}: {} is {}, which does not divide the {} of {}", in.file().name(),
                 in.key("ssm.group_count"), keys.key_heads, keys.value_heads, in.key("ssm.time_step_rank"));
  }
  if (inner != keys.value_heads * keys.head_dim) {
    return error("{}: {} is {}, but {} heads of {} dimensions have {}", in.file().name(),
                 in.key("ssm.inner_size"), inner, keys.value_heads, keys.head_dim,
                 keys.value_heads * keys.head_dim);
  }
  SPECTR_TRY(const std::size_t interval, in.count("full_attention_interval", max_heads, 4));
  for (std::size_t i = 0; i < in.spec().layers.size(); ++i)
    keys.layers.push_back((i + 1) % interval != 0 && i < in.own_layers());
  if (in.is_array("attention.recurrent_layers")) {
    SPECTR_TRY(keys.layers, in.booleans("attention.recurrent_layers"));
  }
  return keys;
}

Result<DeltaNetSpec> delta_net(ArchReader& in, const DeltaNetKeys& keys, std::size_t layer, float epsilon) {
  constexpr auto bias = ArchReader::Bias::optional;
  const std::size_t width = in.spec().width;
  DeltaNetSpec spec{};
  spec.key_heads = keys.key_heads;
  spec.value_heads = keys.value_heads;
  spec.head_dim = keys.head_dim;
  spec.kernel = keys.kernel;
  spec.epsilon = epsilon;
  const auto name = [layer](std::string_view part) { return block(layer, part); };
  SPECTR_TRY(spec.qkv, in.linear(name("attn_qkv"), spec.channels(), width, bias));
  SPECTR_TRY(spec.z, in.linear(name("attn_gate"), spec.inner(), width, bias));
  SPECTR_TRY(spec.beta, in.linear(name("ssm_beta"), spec.value_heads, width, bias));
  SPECTR_TRY(spec.alpha, in.linear(name("ssm_alpha"), spec.value_heads, width, bias));
  SPECTR_TRY(spec.out, in.linear(name("ssm_out"), width, spec.inner(), bias));
  SPECTR_TRY(spec.convolution, in.table(name("ssm_conv1d.weight"), spec.channels(), spec.kernel));
  SPECTR_TRY(spec.a, in.vector(name("ssm_a"), spec.value_heads));
  SPECTR_TRY(spec.dt_bias, in.vector(name("ssm_dt.bias"), spec.value_heads));
  SPECTR_TRY(spec.norm, in.norm(name("ssm_norm"), spec.head_dim, NormSpec::Kind::rms, epsilon));
  return spec;
}

/// Reads attn_q, which has, for each head, the rows of its queries followed by those of its gate.
Result<void> gated_attention(ArchReader& in, const DecoderKeys& keys, std::size_t layer) {
  AttentionSpec& a = in.spec().layers[layer].mixer.emplace<AttentionSpec>(attention_sizes(keys, layer));
  const std::size_t width = in.spec().width, dim = a.head_dim, q = a.heads * dim, kv = a.kv_heads * dim;
  const std::string name = block(layer, "attn_q.weight");
  const auto every_second = [&](std::size_t first) {
    std::vector<Token> rows;
    for (std::size_t h = 0; h < a.heads; ++h) {
      for (std::size_t j = 0; j < dim; ++j) rows.push_back(static_cast<Token>((2 * h + first) * dim + j));
    }
    return in.chosen_rows(name, 2 * q, width, std::move(rows));
  };
  SPECTR_TRY(const WeightId queries, every_second(0));
  SPECTR_TRY(const WeightId gates, every_second(1));
  a.q = {queries, {}, q, width};
  a.gate = LinearSpec{gates, {}, q, width};
  SPECTR_TRY(a.k, in.linear(block(layer, "attn_k"), kv, width, ArchReader::Bias::optional));
  SPECTR_TRY(a.v, in.linear(block(layer, "attn_v"), kv, width, ArchReader::Bias::optional));
  SPECTR_TRY(a.out, in.linear(block(layer, "attn_output"), width, q, ArchReader::Bias::optional));
  return head_norms(in, keys, layer);
}

Result<void> read_qwen35_with(ArchReader& in, const std::optional<ExpertKeys>& experts) {
  SPECTR_TRY(const DeltaNetKeys delta, delta_net_keys(in));
  // For images; in text, all sections share one position, and nothing is added to layers.
  in.ignore({"rope.dimension_sections", "n_deepstack_layers"});
  const auto mixer = [&](std::size_t layer, const DecoderKeys& keys) -> Result<bool> {
    if (delta.layers[layer]) {
      SPECTR_TRY(in.spec().layers[layer].mixer, delta_net(in, delta, layer, keys.epsilon));
    } else {
      SPECTR_TRY_VOID(gated_attention(in, keys, layer));
    }
    return true;
  };
  return gated_decoder(in, {.pairs = RopePairs::halves,
                            .experts = experts,
                            .ffn_norm = "post_attention_norm",
                            .other_mixer = mixer});
}

}  // namespace

/// qwen35: three layers of four are gated delta nets, the others have gated attention. Heads are rotated in
/// part, in pairs of halves.
Result<void> read_qwen35(ArchReader& in) {
  return read_qwen35_with(in, {});
}

/// qwen35moe: like qwen35, with experts next to a block that all tokens share, which has its own gate.
Result<void> read_qwen35moe(ArchReader& in) {
  SPECTR_TRY(const ExpertKeys experts, expert_keys(in, ExpertsSpec::Gating::softmax, true));
  return read_qwen35_with(in, experts);
}

}  // namespace spectr
