#include "spectr/backend/device/device_ops.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr {
namespace {

/// Maximum number of cached recordings. The one that was not used for the longest time makes room for
/// another.
constexpr std::size_t max_recordings = 128;

bool same(const call::Rows& a, const call::Rows& b) {
  return a.at == b.at && a.stride == b.stride;
}

/// Returns where a call can additionally write quantized rows of its output `out`, or null.
call::QuantizedRows* quantized_of(call::AnyCall& call, const call::Rows& out, std::size_t rows,
                                  std::size_t cols) {
  return std::visit(
      [&]<class Kind>(Kind& one) -> call::QuantizedRows* {
        if constexpr (requires { one.out.stride, one.quantized; }) {
          std::size_t columns = 0;
          if constexpr (std::is_same_v<Kind, call::Norm>) {
            columns = one.groups == 1 ? one.cols : 0;
          } else if constexpr (std::is_same_v<Kind, call::Merge>) {
            columns = one.heads * one.dim;
          } else {
            columns = one.cols;
          }
          if (same(one.out, out) && one.rows == rows && columns == cols) return &one.quantized;
        }
        return nullptr;
      },
      call.get());
}

}  // namespace

DeviceOps::DeviceOps(const ModelSpec& spec, const KvTypes& kv, std::shared_ptr<Device> device,
                     ThreadPool* pool)
    : spec_(spec),
      device_(std::move(device)),
      weights_(spec, *device_, pool),
      blocks_(spec, kv, *device_),
      states_(spec, *device_),
      data_(spec, weights_, *device_),
      logits_(spec.vocabulary, *device_, spec.feature_width()),
      experts_(spec) {
  for (std::size_t i = 0; i < buffer_count; ++i) cols_[i] = cols_of(spec, static_cast<Buffer>(i));
  for_each_linear(spec, [this](const LinearSpec& linear, double) {
    quantized_cols_ = std::max(quantized_cols_, linear.in);
  });
  for (const LayerSpec& layer : spec.layers) {
    if (const AttentionSpec* a = layer.attention())
      heads_numbers_ = std::max(heads_numbers_, a->heads * call::part_numbers(value_dim(*a)));
    if (const DeltaNetSpec* delta = layer.delta_net()) key_heads_ = std::max(key_heads_, delta->key_heads);
  }
}

void DeviceOps::reserve(std::size_t rows) {
  if (rows <= reserved_) return;
  const auto allocate = [&](std::size_t bytes) { return device_->allocate(bytes); };
  std::array<std::unique_ptr<DeviceMemory>, buffer_count> larger;
  // Room for split-K parts; only passes of one slab are split.
  const std::size_t with_parts = device_->max_parts() * std::min(rows, QuantizedLayout::slab_rows);
  for (std::size_t i = 0; i < buffer_count; ++i)
    larger[i] = allocate(std::max(rows, with_parts) * cols_[i] * sizeof(float));
  auto rotated = allocate(rows * cols(Buffer::query) * sizeof(float));
  DeviceExperts experts(spec_);
  experts.reserve(rows, *device_);
  auto quantized = allocate(std::max({QuantizedLayout{rows, quantized_cols_}.bytes(),
                                      quantized_bytes_of_heads(rows), experts.rows_of_down(rows).bytes()}));
  auto key_products = allocate(rows * key_heads_ * 2 * grid_tokens * sizeof(float));
  recordings_.clear();
  buffers_ = std::move(larger);
  rotated_ = std::move(rotated);
  quantized_ = std::move(quantized);
  key_products_ = std::move(key_products);
  experts_ = std::move(experts);
  reserved_ = rows;
}

void DeviceOps::have(std::unique_ptr<DeviceMemory>& memory, std::size_t bytes) {
  if (bytes == 0 || (memory != nullptr && memory->bytes() >= bytes)) return;
  recordings_.clear();
  memory.reset();  // free the old memory before allocating
  memory = device_->allocate(std::bit_ceil(bytes));
}

void DeviceOps::begin(const PassBatch& batch) {
  records_ = false;
  for (const SlotMove& move : batch.moves) {  // executed first by the next successful pass
    blocks_.add(move);
    states_.add(move);
  }
  SPECTR_CHECK(batch.rows() >= 1 && batch.rows() <= reserved_);
  for (std::size_t r = 0; r < batch.rows(); ++r) blocks_.grow(batch.caches[r], batch.slots[r]);
  shape_.logits = 0;
  const std::size_t wanted = batch.wanted.size(), features = spec_.taps.empty() ? 0 : batch.rows();
  if (wanted + features > 0) {
    bool moved = false;
    shape_.logits = logits_.take({std::max<std::size_t>(wanted, 1), features}, moved);
    if (moved) std::erase_if(recordings_, [&](const auto& one) { return one.first.logits == shape_.logits; });
    logits_[shape_.logits].begin(wanted, features);
  }
  if (data_.plan(batch, blocks_, states_, shape_)) recordings_.clear();
  have(parts_, data_.parts() * heads_numbers_ * sizeof(float));
  have(shortlist_, shape_.wanted * spec_.head.shortlist.size() * sizeof(float));
  const std::size_t pools = blocks_.times_moved() + states_.times_moved();
  if (std::exchange(recorded_pools_, pools) != pools) recordings_.clear();
  records_ = !recordings_.contains(shape_);
  calls_.clear();
  quantized_rows_ = {};
}

/// Records an in-place norm of groups of a buffer's columns.
void DeviceOps::record_group_norm(const std::optional<NormSpec>& spec, std::optional<float> epsilon,
                                  Buffer buffer, std::size_t groups, std::size_t cols) {
  if (!spec && !epsilon) return;
  record(call::Norm{.kind = spec ? spec->kind : NormSpec::Kind::rms,
                    .epsilon = spec ? spec->epsilon : *epsilon,
                    .weight = spec ? weights_.vector(spec->weight) : Slice(),
                    .bias = spec ? weights_.vector(spec->bias) : Slice(),
                    .in = view(buffer),
                    .added = {},
                    .out = view(buffer),
                    .picked = {},
                    .rows = shape_.rows,
                    .groups = groups,
                    .cols = cols});
}

void DeviceOps::record_norm(const NormSpec& spec, const call::Rows& in, const call::Rows& out) {
  record(call::Norm{.kind = spec.kind,
                    .epsilon = spec.epsilon,
                    .weight = weights_.vector(spec.weight),
                    .bias = weights_.vector(spec.bias),
                    .in = in,
                    .added = {},
                    .out = out,
                    .picked = {},
                    .rows = shape_.rows,
                    .groups = 1,
                    .cols = spec_.weight(spec.weight).cols});
}

void DeviceOps::norm(const NormSpec& spec, Buffer in, Buffer out) {
  if (in == out) split_products({in});
  record_norm(spec, view(in), view(out));
}

void DeviceOps::add_norm(const NormSpec& spec) {
  split_products({Buffer::branch});
  norm(spec, Buffer::stream, Buffer::normed);
  if (records_) std::get<call::Norm>(calls_.back()).added = view(Buffer::branch);
}

void DeviceOps::scale(Buffer buffer, float factor) {
  record(call::Scale{view(buffer), shape_.rows, cols(buffer), factor});
}

void DeviceOps::add(Buffer to, Buffer from) {
  record(call::Add{view(to), view(from), shape_.rows, spec_.width});
}

void DeviceOps::gate(Buffer buffer, std::size_t cols, std::size_t gates) {
  record(call::Gate{view(buffer), view(Buffer::gate), shape_.rows, cols, gates});
}

/// Returns rows quantized for a product: by the call that has just written them, or by a separate call.
/// Consecutive products of the same rows share them.
call::QuantizedRows DeviceOps::quantized(const call::Rows& in, std::size_t rows, std::size_t cols) {
  const call::QuantizedRows all{{quantized_.get()}, {rows, cols}};
  if (!records_ || calls_.empty()) return all;
  const bool follows_product = std::holds_alternative<call::Product>(calls_.back());
  if (follows_product && same(quantized_rows_, in)) return all;
  quantized_rows_ = in;
  if (call::QuantizedRows* of_last = quantized_of(calls_.back(), in, rows, cols)) {
    *of_last = all;
  } else {
    record(call::Quantize{in, rows, cols, all});
  }
  return all;
}

void DeviceOps::product(const LinearSpec& linear, const call::Rows& in, const call::Rows& out,
                        std::size_t rows) {
  const call::Weights weights = weights_.matrix(linear.weight);
  if (!quant_layout(weights.type)) return record(call::FloatProduct{weights, in, out, rows});
  const call::QuantizedRows x = quantized(in, rows, linear.in);
  // Merge with a preceding product of the same rows and format.
  for (auto& last : calls_ | std::views::reverse) {
    auto* const before = std::get_if<call::Product>(&last.get());
    if (before == nullptr || before->rows != rows) break;
    if (before->targets.size() == call::Product::max_targets ||
        before->targets.front().weights.type != weights.type)
      continue;
    before->targets.push_back({weights, out});
    return;
  }
  record(call::Product{x, rows, {{weights, out}}});
}

/// Allows split-K for the products recorded last, if all their targets are in `read`: buffers that the next
/// calls read, summing the parts.
void DeviceOps::split_products(std::initializer_list<Buffer> read) {
  if (shape_.rows > QuantizedLayout::slab_rows) return;
  const auto is_read = [&](const call::Product::Target& target) {
    return std::ranges::any_of(read, [&](Buffer buffer) { return same(target.y, view(buffer)); });
  };
  for (auto& last : calls_ | std::views::reverse) {
    auto* const product = std::get_if<call::Product>(&last.get());
    if (product == nullptr) return;
    product->may_split = std::ranges::all_of(product->targets, is_read);
  }
}

void DeviceOps::linear(LinearRole, std::span<const LinearTarget> targets, Buffer in) {
  for (const auto& [linear, out] : targets) product(*linear, view(in), view(out), shape_.rows);
  for (const auto& [linear, out] : targets) {
    if (linear->bias)
      record(call::Add{view(out), {weights_.vector(*linear->bias)}, shape_.rows, linear->out});
  }
}

void DeviceOps::activate(const DenseSpec& spec) {
  const call::Rows up = view(Buffer::up), gate = view(Buffer::gate);
  split_products({Buffer::gate, Buffer::up});
  record(call::Activate{.activation = spec.activation,
                        .clamp = spec.clamp,
                        .has_gate = spec.gate.has_value(),
                        .gate = gate,
                        .up = up,
                        .out = spec.gate ? gate : up,
                        .rows = shape_.rows,
                        .cols = spec.width});
}

Result<HeldLogits> DeviceOps::finish() {
  SPECTR_TRY_VOID(weights_.state());
  SPECTR_TRY_VOID(blocks_.state());
  SPECTR_TRY_VOID(states_.state());
  if (std::exchange(records_, false)) {
    if (recordings_.size() >= max_recordings) {
      recordings_.erase(
          std::ranges::min_element(recordings_, {}, [](const auto& one) { return one.second.last_used; }));
    }
    SPECTR_TRY(std::unique_ptr<Recording> recording, device_->record(calls_));
    recordings_[shape_].recording = std::move(recording);
  }
  SPECTR_TRY_VOID(data_.send());
  Recorded& recorded = recordings_.at(shape_);
  recorded.last_used = ++passes_;
  SPECTR_TRY_VOID(device_->run(*recorded.recording));
  blocks_.forget_moves();
  states_.forget_moves();
  return shape_.wanted == 0 && spec_.taps.empty() ? HeldLogits() : HeldLogits(logits_[shape_.logits]);
}

}  // namespace spectr
