#include "spectr/backend/device/device_experts.h"

#include <algorithm>

#include "spectr/backend/device/device_ops.h"
#include "spectr/base/check.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr {
namespace {

call::ExpertLists lists_of(const Slice& at, std::size_t slots, std::size_t blocks) {
  return {at, std::min(slots, blocks), slots};
}

}  // namespace

DeviceExperts::DeviceExperts(const ModelSpec& spec) : width_(spec.width) {
  for (const LayerSpec& layer : spec.layers) {
    if (!layer.experts) continue;
    experts_ = std::max(experts_, layer.experts->router.out);
    used_ = std::max(used_, layer.experts->used);
    block_ = std::max(block_, layer.experts->blocks.front().width);
  }
}

void DeviceExperts::reserve(std::size_t rows, Device& device) {
  if (experts_ == 0) return;
  const std::size_t slots = rows * used_;
  router_ = device.allocate(rows * experts_ * sizeof(float));
  chosen_ = device.allocate(slots * sizeof(std::int32_t));
  weights_ = device.allocate(slots * sizeof(float));
  lists_ = device.allocate(lists_of({}, slots, experts_).bytes());
  gates_ = device.allocate(slots * block_ * sizeof(float));
  ups_ = device.allocate(slots * block_ * sizeof(float));
  outs_ = device.allocate(slots * width_ * sizeof(float));
}

/// Records products of every slot with its expert's matrix; `first` is the first expert's.
void DeviceOps::expert_product(const ExpertsSpec& spec, const LinearSpec& first, const call::Rows& in,
                               const call::QuantizedRows& quantized, std::size_t sharers,
                               const call::Rows& out) {
  const call::ExpertWeights weights = weights_.matrices(first.weight);
  const call::ExpertLists lists = lists_of(experts_.lists(), shape_.rows * spec.used, weights.blocks);
  if (quant_layout(weights.each.type)) {
    record(call::ExpertProduct{weights, lists, quantized, sharers, out});
  } else {
    record(call::ExpertFloatProduct{weights, lists, in, sharers, out});
  }
}

/// Expert products are computed by slot, i.e. by pair of a row and one of its experts, and their outputs are
/// summed by row.
std::size_t DeviceOps::experts(const ExpertsSpec& spec, Buffer in) {
  SPECTR_CHECK(spec.router.out <= call::max_experts);
  const DenseSpec& block = spec.blocks.front();
  const std::size_t rows = shape_.rows, experts = spec.router.out, slots = rows * spec.used;
  const call::Choices choices{experts_.chosen(), slots, spec.first, spec.blocks.size()};
  const call::ExpertLists lists = lists_of(experts_.lists(), slots, choices.blocks);
  const auto is_quantized = [this](const LinearSpec& one) {
    return quant_layout(spec_.weight(one.weight).type).has_value();
  };

  // Quantize now, so that the preceding call can do it: the router's product does not quantize.
  call::QuantizedRows x;
  if (is_quantized(block.up) || (block.gate && is_quantized(*block.gate)))
    x = quantized(view(in), rows, spec_.width);
  // Nothing reads Buffer::branch before it is written.
  if (spec.router_norm) norm(*spec.router_norm, Buffer::stream, Buffer::branch);
  const call::Rows z = experts_.outputs(experts);
  SPECTR_CHECK(!is_quantized(spec.router));
  product(spec.router, view(spec.router_norm ? Buffer::branch : in), z, rows);
  if (spec.router.bias) record(call::Add{z, {weights_.vector(*spec.router.bias)}, rows, experts});
  if (spec.router_scale != 1.0f) record(call::Scale{z, rows, experts, spec.router_scale});
  record(call::ChooseExperts{.gating = spec.gating,
                             .normalized = spec.normalized,
                             .weights_scale = spec.weights_scale,
                             .z = z,
                             .bias = weights_.vector(spec.selection_bias),
                             .scales = weights_.vector(spec.scales),
                             .rows = rows,
                             .experts = experts,
                             .used = spec.used,
                             .groups = spec.groups,
                             .groups_used = spec.groups_used,
                             .chosen = choices.chosen,
                             .weights = experts_.weights()});
  record(call::GroupExperts{choices, lists});

  const call::Rows gate = experts_.gates(block.width), up = experts_.ups(block.width),
                   out = experts_.outs(spec_.width);
  const auto add_bias = [&](const LinearSpec& first, const call::Rows& to) {
    if (first.bias) record(call::AddChosen{choices, to, weights_.vector(*first.bias), first.out});
  };
  if (block.gate) expert_product(spec, *block.gate, view(in), x, spec.used, gate);
  expert_product(spec, block.up, view(in), x, spec.used, up);
  if (block.gate) add_bias(*block.gate, gate);
  add_bias(block.up, up);
  const call::Rows hidden = block.gate ? gate : up;
  record(call::Activate{.activation = block.activation,
                        .clamp = block.clamp,
                        .has_gate = block.gate.has_value(),
                        .gate = gate,
                        .up = up,
                        .out = hidden,
                        .rows = slots,
                        .cols = block.width});
  if (is_quantized(block.down)) x = quantized(hidden, slots, block.width);
  expert_product(spec, block.down, hidden, x, 1, out);
  add_bias(block.down, out);
  record(call::Combine{choices, experts_.weights(), out, view(Buffer::branch), rows, spec_.width});
  return lists.groups;
}

}  // namespace spectr
