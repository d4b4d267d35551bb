#include "spectr/backend/device/weights/device_weights.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/base/check.h"
#include "spectr/gguf/dequantize.h"

namespace spectr {
namespace {

/// Returns true if the weight is an embedding table.
bool is_table(const ModelSpec& spec, WeightId id) {
  return id == spec.embed.tokens || id == spec.embed.positions ||
         (spec.embed.by_layer && id == spec.embed.by_layer->tokens);
}

bool is_multiplied_with(const ModelSpec& spec, WeightId id) {
  bool found = false;
  for_each_linear(spec, [&](const LinearSpec& linear, double) { found |= linear.weight == id; });
  return found;
}

std::size_t file_bytes(const WeightSpec& weight) {
  const TensorFormat& format = format_of(weight.type);
  return weight.rows * weight.cols / format.elements * format.bytes;
}

std::size_t device_bytes(const ModelSpec& spec, WeightId id) {
  const WeightSpec& weight = spec.weight(id);
  if (weight.is_vector) return weight.cols * sizeof(float);
  if (is_table(spec, id) && !is_multiplied_with(spec, id)) return 0;
  return has_device_layout(weight.type) ? PanelLayout(weight.type, weight.rows, weight.cols).bytes()
                                        : file_bytes(weight);
}

/// Returns the corresponding weights of a layer's experts, by expert: the matrices and biases of the gate, up
/// and down projections.
std::vector<std::vector<std::optional<WeightId>>> alike(const ExpertsSpec& experts) {
  std::vector<std::vector<std::optional<WeightId>>> all(6);
  for (const DenseSpec& block : experts.blocks) {
    std::size_t i = 0;
    for (const LinearSpec* linear : {block.gate ? &*block.gate : nullptr, &block.up, &block.down}) {
      all[i++].push_back(linear == nullptr ? std::nullopt : std::optional(linear->weight));
      all[i++].push_back(linear == nullptr ? std::nullopt : linear->bias);
    }
  }
  return all;
}

std::vector<std::optional<WeightId>> weights_of(const std::vector<LinearSpec>& heads) {
  std::vector<std::optional<WeightId>> weights;
  for (const LinearSpec& head : heads) weights.emplace_back(head.weight);
  return weights;
}

/// Returns the summands of logits that mask forbidden tokens with −∞; empty if none is forbidden.
std::vector<float> forbids_of(const ModelSpec& spec) {
  if (spec.head.forbidden.empty()) return {};
  std::vector<float> summands(spec.vocabulary, -0.0f);  // x + −0 = x for all x
  for (const Token token : spec.head.forbidden)
    summands[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
  return summands;
}

/// Returns each token's index in the shortlist, or −1; empty if there is no shortlist.
std::vector<std::int32_t> columns_of(const ModelSpec& spec) {
  if (spec.head.shortlist.empty()) return {};
  std::vector<std::int32_t> columns(spec.vocabulary, -1);
  for (std::size_t i = 0; i < spec.head.shortlist.size(); ++i)
    columns[static_cast<std::size_t>(spec.head.shortlist[i])] = static_cast<std::int32_t>(i);
  return columns;
}

}  // namespace

DeviceWeights::DeviceWeights(const ModelSpec& spec, Device& device, ThreadPool* pool)
    : spec_(spec), device_(device), pool_(pool), memory_(spec.weights.size()), on_host_(spec.weights.size()) {
  for (WeightId id = 0; id < spec.weights.size(); ++id) places_.push_back({id, 0, 1});
  for (const LayerSpec& layer : spec.layers) {
    if (const AttentionSpec* a = layer.attention(); a != nullptr && a->latent) {
      place_together(weights_of(a->latent->keys_up));
      place_together(weights_of(a->latent->values_up));
    }
    if (!layer.experts) continue;
    for (const auto& weights : alike(*layer.experts)) place_together(weights);
  }
  const auto send = [&](std::unique_ptr<DeviceMemory>& memory, const auto& numbers) {
    if (numbers.empty()) return;
    const auto bytes = std::as_bytes(std::span(numbers));
    memory = device.allocate(bytes.size());
    if (const Result<void> sent = device.upload({memory.get()}, bytes); !sent) state_ = sent;
  };
  send(forbids_, forbids_of(spec));
  send(columns_, columns_of(spec));
}

void DeviceWeights::place_together(const std::vector<std::optional<WeightId>>& weights) {
  for (std::size_t i = 0; i < weights.size() && weights[i]; ++i) {
    SPECTR_CHECK(spec_.weight(*weights[i]).type == spec_.weight(*weights.front()).type);
    places_[*weights[i]] = {*weights.front(), i, weights.size()};
  }
}

std::size_t DeviceWeights::bytes_of_all(const ModelSpec& spec) {
  std::size_t bytes = spec.head.forbidden.empty() ? 0 : spec.vocabulary * sizeof(float);
  if (!spec.head.shortlist.empty()) bytes += spec.vocabulary * sizeof(std::int32_t);
  for (WeightId id = 0; id < spec.weights.size(); ++id) bytes += device_bytes(spec, id);
  return bytes;
}

Result<void> DeviceWeights::check_experts(const ModelSpec& spec) {
  for (const LayerSpec& layer : spec.layers) {
    if (!layer.experts) continue;
    for (const auto& weights : alike(*layer.experts)) {
      for (const std::optional<WeightId>& one : weights) {
        if (one.has_value() != weights.front().has_value()) {
          return error(ErrorCode::unsupported, "{}: tensor {} is of some experts of a layer only", spec.file,
                       spec.weight(one ? *one : *weights.front()).name);
        }
        if (!one) continue;
        const WeightSpec &first = spec.weight(*weights.front()), &weight = spec.weight(*one);
        if (weight.type == first.type && weight.rows == first.rows && weight.cols == first.cols) continue;
        return error(ErrorCode::unsupported,
                     "{}: tensor {} is {}, [{}, {}], and that of the layer's first expert {}, [{}, {}]",
                     spec.file, weight.name, format_of(weight.type).name, weight.rows, weight.cols,
                     format_of(first.type).name, first.rows, first.cols);
      }
    }
  }
  return {};
}

bool DeviceWeights::upload(WeightId id, std::span<const std::byte> bytes) {
  const WeightSpec& weight = spec_.weight(id);
  const bool stays = !weight.is_vector && is_table(spec_, id);
  if (stays) on_host_[id] = bytes;
  const std::size_t size = device_bytes(spec_, id);
  if (size == 0) return stays;
  std::unique_ptr<DeviceMemory>& memory = memory_[places_[id].in];
  if (memory == nullptr) memory = device_.allocate(places_[id].count * size);
  const auto send = [&](const Slice& to, std::span<const std::byte> bytes_of_part) {
    if (const Result<void> sent = device_.upload(to, bytes_of_part); !sent) state_ = sent;
  };
  if (weight.is_vector) {
    std::vector<float> numbers(weight.cols);
    dequantize(weight.type, bytes, numbers);
    send(vector(id), std::as_bytes(std::span(numbers)));
    return stays;
  }
  const call::Weights to = matrix(id);
  if (has_device_layout(weight.type)) {
    const WeightPanels packed = pack_for_device(weight.type, weight.rows, weight.cols, bytes, pool_);
    send(to.codes, std::as_bytes(std::span(packed.codes)));
    send(to.scales, std::as_bytes(std::span(packed.scales)));
    if (to.factors) send(to.factors, std::as_bytes(std::span(packed.factors)));
  } else {
    send(to.codes, bytes);
  }
  return stays;
}

std::size_t DeviceWeights::bytes_of(WeightId id) const {
  const std::size_t bytes = device_bytes(spec_, id);
  return bytes == 0 ? on_host_[id].size() : bytes;
}

call::Weights DeviceWeights::matrix(WeightId id) const {
  const WeightSpec& weight = spec_.weight(id);
  call::Weights matrix{weight.type, weight.rows, weight.cols, part(id, 0, device_bytes(spec_, id))};
  if (has_device_layout(weight.type)) {
    const PanelLayout layout(weight.type, weight.rows, weight.cols);
    matrix.codes = part(id, 0, layout.code_bytes);
    matrix.scales = part(id, layout.scales_at(), layout.scale_bytes);
    if (layout.factor_bytes > 0) matrix.factors = part(id, layout.factors_at(), layout.factor_bytes);
  }
  return matrix;
}

void DeviceWeights::row(WeightId id, std::size_t i, std::span<float> out) const {
  const std::size_t bytes = on_host_[id].size() / spec_.weight(id).rows;
  dequantize(spec_.weight(id).type, on_host_[id].subspan(i * bytes, bytes), out);
}

}  // namespace spectr
