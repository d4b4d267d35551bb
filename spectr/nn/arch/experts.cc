#include "spectr/nn/arch/experts.h"

#include <string>
#include <string_view>
#include <vector>

#include "spectr/gguf/stored_format.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_experts = 1 << 12, max_width = 1 << 18;

/// The matrices of one kind [experts, out, in], an expert's each.
Result<std::vector<LinearSpec>> matrices(ArchReader& in, const std::string& name, std::size_t experts,
                                         std::size_t out_size, std::size_t in_size) {
  const GgufTensor* tensor = in.file().tensor(name);
  if (tensor != nullptr && tensor->shape[2] != experts) {
    return error("{}: tensor {} has {} experts, expected the {} of {}", in.file().name(), name,
                 tensor->shape[2], experts, in.key("expert_count"));
  }
  std::vector<LinearSpec> all;
  for (std::size_t e = 0; e < experts; ++e) {
    SPECTR_TRY(const WeightId id, in.rows_of(name, experts * out_size, in_size, e * out_size, out_size));
    all.push_back({id, {}, out_size, in_size});
  }
  return all;
}

}  // namespace

Result<ExpertKeys> expert_keys(ArchReader& in, ExpertsSpec::Gating gating, bool normalized) {
  ExpertKeys keys{};
  SPECTR_TRY(keys.count, in.count("expert_count", max_experts));
  in.require_if(true, Feature::experts, "expert_count");
  SPECTR_TRY(keys.used, in.count("expert_used_count", keys.count));
  if (in.has("expert_feed_forward_length")) {
    SPECTR_TRY(keys.width, in.count("expert_feed_forward_length", max_width));
  }
  SPECTR_TRY(const std::size_t func, in.count("expert_gating_func", 3, static_cast<std::size_t>(gating) + 1));
  keys.gating = static_cast<ExpertsSpec::Gating>(func - 1);  // in the order of the file's numbers
  SPECTR_TRY(keys.normalized, in.boolean("expert_weights_norm", normalized));
  SPECTR_TRY(const float scale, in.real("expert_weights_scale", 0, 1e6, 1));
  keys.weights_scale = scale == 0 ? 1 : scale;  // as some writers say that there is none
  for (const std::string_view none :
       {"expert_shared_count", "expert_shared_feed_forward_length", "leading_dense_block_count"}) {
    SPECTR_TRY_VOID(in.neutral(none, 0));
  }
  SPECTR_TRY_VOID(in.neutral("expert_group_count", 1));
  SPECTR_TRY_VOID(in.neutral("expert_group_used_count", 1));
  return keys;
}

Result<ExpertsSpec> experts(ArchReader& in, const ExpertKeys& keys, std::size_t layer, std::size_t ffn) {
  const std::size_t width = in.spec().width, inner = keys.width.value_or(ffn);
  ExpertsSpec spec{};
  spec.used = keys.used;
  spec.gating = keys.gating;
  spec.normalized = keys.normalized;
  spec.weights_scale = keys.weights_scale;
  const std::string router = block(layer, "ffn_gate_inp");
  SPECTR_TRY(spec.router, in.linear(router, keys.count, width, ArchReader::Bias::optional));
  if (const TensorFormat& format = format_of(in.spec().weight(spec.router.weight).type);
      format.is_quantized()) {
    return error("{}: tensor {}.weight is {}, but routers must be F32, F16 or BF16", in.file().name(), router,
                 format.name);
  }
  const auto all = [&](std::string_view part, std::size_t out_size, std::size_t in_size) {
    return matrices(in, block(layer, part), keys.count, out_size, in_size);
  };
  SPECTR_TRY(const std::vector<LinearSpec> gates, all("ffn_gate_exps.weight", inner, width));
  SPECTR_TRY(const std::vector<LinearSpec> ups, all("ffn_up_exps.weight", inner, width));
  SPECTR_TRY(const std::vector<LinearSpec> downs, all("ffn_down_exps.weight", width, inner));
  for (std::size_t e = 0; e < keys.count; ++e)
    spec.blocks.push_back({inner, Activation::silu, gates[e], ups[e], downs[e]});
  return spec;
}

}  // namespace spectr
