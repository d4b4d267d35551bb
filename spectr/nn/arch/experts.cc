#include "spectr/nn/arch/experts.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/gguf/stored_format.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_experts = 1 << 12, max_width = 1 << 18;

/// Reads the rows [first, first + out) of each expert, of `rows` rows, from PREFIX, [experts, rows, in].
Result<std::vector<LinearSpec>> matrices(ArchReader& in, const std::string& prefix, std::size_t experts,
                                         std::size_t rows, std::size_t in_size, std::size_t first,
                                         std::size_t out_size) {
  const std::string name = prefix + ".weight", bias = prefix + ".bias";
  const GgufTensor* tensor = in.file().tensor(name);
  if (tensor != nullptr && tensor->shape[2] != experts) {
    return error("{}: tensor {} has {} experts, expected the {} of {}", in.file().name(), name,
                 tensor->shape[2], experts, in.key("expert_count"));
  }
  std::vector<LinearSpec> all;
  for (std::size_t e = 0; e < experts; ++e) {
    SPECTR_TRY(const WeightId id, in.rows_of(name, experts * rows, in_size, e * rows + first, out_size));
    LinearSpec one{id, {}, out_size, in_size};
    if (in.has_tensor(bias)) {
      SPECTR_TRY(one.bias, in.part_of_table(bias, experts, rows, e * rows + first, out_size));
    }
    all.push_back(one);
  }
  return all;
}

/// Reads gates and ups, from two tensors or from a joint one with the gates first.
Result<std::pair<std::vector<LinearSpec>, std::vector<LinearSpec>>> gates_and_ups(ArchReader& in,
                                                                                  std::size_t layer,
                                                                                  std::size_t count,
                                                                                  std::size_t inner) {
  const std::size_t width = in.spec().width;
  const std::string both = block(layer, "ffn_gate_up_exps");
  const bool merged = in.has_tensor(both + ".weight");
  const std::size_t rows = merged ? 2 * inner : inner;
  SPECTR_TRY(auto gates,
             matrices(in, merged ? both : block(layer, "ffn_gate_exps"), count, rows, width, 0, inner));
  SPECTR_TRY(auto ups, matrices(in, merged ? both : block(layer, "ffn_up_exps"), count, rows, width,
                                merged ? inner : 0, inner));
  return std::pair(std::move(gates), std::move(ups));
}

}  // namespace

namespace {

/// Returns the width of the block that all tokens share.
Result<std::size_t> shared_width(ArchReader& in, const ExpertKeys& keys) {
  SPECTR_TRY(const std::size_t width, in.count_or_none("expert_shared_feed_forward_length", max_width));
  SPECTR_TRY(const std::size_t count, in.count_or_none("expert_shared_count", max_experts));
  if (width > 0 || count == 0) return width;
  if (!keys.width) {
    return error("{}: {} is {}, but {} is missing", in.file().name(), in.key("expert_shared_count"), count,
                 in.key("expert_feed_forward_length"));
  }
  return count * *keys.width;
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
  keys.gating = static_cast<ExpertsSpec::Gating>(func - 1);  // in the order of the file's values
  SPECTR_TRY(keys.normalized, in.boolean("expert_weights_norm", normalized));
  SPECTR_TRY(const float scale, in.real("expert_weights_scale", 0, 1e6, 1));
  keys.weights_scale = scale == 0 ? 1 : scale;  // some writers use 0 for no scale
  SPECTR_TRY(keys.leading_dense, in.count_or_none("leading_dense_block_count", in.spec().layers.size()));
  SPECTR_TRY(keys.shared, shared_width(in, keys));
  SPECTR_TRY(keys.groups, in.count("expert_group_count", keys.count, 1));
  SPECTR_TRY(keys.groups_used, in.count("expert_group_used_count", keys.groups, keys.groups));
  if (keys.count % keys.groups != 0 || keys.used > keys.groups_used * (keys.count / keys.groups)) {
    return error("{}: {} is {} and {} is {}, for {} of {} experts", in.file().name(),
                 in.key("expert_group_count"), keys.groups, in.key("expert_group_used_count"),
                 keys.groups_used, keys.used, keys.count);
  }
  in.require_if(keys.groups > 1, Feature::expert_groups, "expert_group_count");
  in.require_if(keys.shared > 0, Feature::blocks_beside_experts,
                in.has("expert_shared_count") ? "expert_shared_count" : "expert_shared_feed_forward_length");
  return keys;
}

Result<std::optional<ExpertKeys>> experts_or_none(ArchReader& in, ExpertsSpec::Gating gating,
                                                  bool normalized) {
  SPECTR_TRY(const auto count, in.file().integer(in.key("expert_count"), 0));
  if (count == 0) return std::nullopt;
  SPECTR_TRY(const ExpertKeys keys, expert_keys(in, gating, normalized));
  return keys;
}

Result<void> experts(ArchReader& in, const ExpertKeys& keys, std::size_t layer, std::size_t ffn,
                     Activation activation) {
  const std::size_t width = in.spec().width, inner = keys.width.value_or(ffn);
  ExpertsSpec spec{};
  spec.used = keys.used;
  spec.gating = keys.gating;
  spec.normalized = keys.normalized;
  spec.weights_scale = keys.weights_scale;
  spec.groups = keys.groups;
  spec.groups_used = keys.groups_used;
  const std::string router = block(layer, "ffn_gate_inp"), bias = block(layer, "exp_probs_b.bias");
  SPECTR_TRY(spec.router, in.linear(router, keys.count, width, ArchReader::Bias::optional));
  if (const TensorFormat& format = format_of(in.spec().weight(spec.router.weight).type);
      format.is_quantized()) {
    return error("{}: tensor {}.weight is {}, but routers must be F32, F16 or BF16", in.file().name(), router,
                 format.name);
  }
  if (in.has_tensor(bias)) {
    SPECTR_TRY(spec.selection_bias, in.vector(bias, keys.count));
  }
  SPECTR_TRY(const auto hidden, gates_and_ups(in, layer, keys.count, inner));
  SPECTR_TRY(const std::vector<LinearSpec> downs,
             matrices(in, block(layer, "ffn_down_exps"), keys.count, width, inner, 0, width));
  for (std::size_t e = 0; e < keys.count; ++e)
    spec.blocks.push_back({inner, activation, hidden.first[e], hidden.second[e], downs[e]});
  LayerSpec& target = in.spec().layers[layer];
  target.experts = std::move(spec);
  if (keys.shared == 0) return {};
  SPECTR_TRY(target.ffn, gated_ffn(in, layer, keys.shared, activation, "_shexp"));
  if (const std::string gate = block(layer, "ffn_gate_inp_shexp"); in.has_tensor(gate + ".weight")) {
    SPECTR_TRY(target.ffn_gate, in.linear(gate, 1, width, ArchReader::Bias::optional));
  }
  return {};
}

}  // namespace spectr
