#include "spectr/backend/device/device_weights.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "spectr/backend/device/weight_panels.h"
#include "spectr/base/check.h"
#include "spectr/gguf/dequantize.h"

namespace spectr {
namespace {

/// Whether rows of it are looked up.
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

/// What is added to logits so that forbidden tokens have none; empty where none is forbidden.
std::vector<float> forbids_of(const ModelSpec& spec) {
  if (spec.head.forbidden.empty()) return {};
  std::vector<float> summands(spec.vocabulary, -0.0f);  // which changes no number
  for (const Token token : spec.head.forbidden)
    summands[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
  return summands;
}

/// Which of the shortlist's logits each token has; empty where all have one.
std::vector<std::int32_t> columns_of(const ModelSpec& spec) {
  if (spec.head.shortlist.empty()) return {};
  std::vector<std::int32_t> columns(spec.vocabulary, -1);
  for (std::size_t i = 0; i < spec.head.shortlist.size(); ++i)
    columns[static_cast<std::size_t>(spec.head.shortlist[i])] = static_cast<std::int32_t>(i);
  return columns;
}

}  // namespace

DeviceWeights::DeviceWeights(const ModelSpec& spec, Device& device, ThreadPool* pool)
    : spec_(spec),
      device_(device),
      pool_(pool),
      on_device_(spec.weights.size()),
      on_host_(spec.weights.size()) {
  const auto send = [&](std::unique_ptr<DeviceMemory>& memory, const auto& numbers) {
    if (numbers.empty()) return;
    const auto bytes = std::as_bytes(std::span(numbers));
    memory = device.allocate(bytes.size());
    if (const Result<void> sent = device.upload({memory.get()}, bytes); !sent) state_ = sent;
  };
  send(forbids_, forbids_of(spec));
  send(columns_, columns_of(spec));
}

std::size_t DeviceWeights::bytes_of_all(const ModelSpec& spec) {
  std::size_t bytes = spec.head.forbidden.empty() ? 0 : spec.vocabulary * sizeof(float);
  if (!spec.head.shortlist.empty()) bytes += spec.vocabulary * sizeof(std::int32_t);
  for (WeightId id = 0; id < spec.weights.size(); ++id) bytes += device_bytes(spec, id);
  return bytes;
}

bool DeviceWeights::upload(WeightId id, std::span<const std::byte> bytes) {
  const WeightSpec& weight = spec_.weight(id);
  const bool stays = !weight.is_vector && is_table(spec_, id);
  if (stays) on_host_[id] = bytes;
  const std::size_t size = device_bytes(spec_, id);
  if (size == 0) return stays;
  on_device_[id] = device_.allocate(size);
  const auto send = [&](std::size_t offset, std::span<const std::byte> part) {
    if (const Result<void> sent = device_.upload({on_device_[id].get(), offset}, part); !sent) state_ = sent;
  };
  if (weight.is_vector) {
    std::vector<float> numbers(weight.cols);
    dequantize(weight.type, bytes, numbers);
    send(0, std::as_bytes(std::span(numbers)));
  } else if (has_device_layout(weight.type)) {
    const PanelLayout layout(weight.type, weight.rows, weight.cols);
    const WeightPanels packed = pack_for_device(weight.type, weight.rows, weight.cols, bytes, pool_);
    send(0, std::as_bytes(std::span(packed.codes)));
    send(layout.scales_at(), std::as_bytes(std::span(packed.scales)));
    send(layout.factors_at(), std::as_bytes(std::span(packed.factors)));
  } else {
    send(0, bytes);
  }
  return stays;
}

std::size_t DeviceWeights::bytes_of(WeightId id) const {
  return on_device_[id] == nullptr ? on_host_[id].size() : on_device_[id]->bytes();
}

call::Weights DeviceWeights::matrix(WeightId id) const {
  const WeightSpec& weight = spec_.weight(id);
  const Slice at{on_device_[id].get()};
  call::Weights matrix{weight.type, weight.rows, weight.cols, at};
  if (has_device_layout(weight.type)) {
    const PanelLayout layout(weight.type, weight.rows, weight.cols);
    matrix.scales = at.behind(layout.scales_at());
    if (layout.factor_bytes > 0) matrix.factors = at.behind(layout.factors_at());
  }
  return matrix;
}

void DeviceWeights::row(WeightId id, std::size_t i, std::span<float> out) const {
  const std::size_t bytes = on_host_[id].size() / spec_.weight(id).rows;
  dequantize(spec_.weight(id).type, on_host_[id].subspan(i * bytes, bytes), out);
}

}  // namespace spectr
