#include "spectr/backend/device/device_ops.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr {
namespace {

/// So many recordings are kept: decoders use a few shapes, again and again.
constexpr std::size_t most_recordings = 128;

bool is_quantized(const call::Weights& weights) {
  return quant_layout(weights.type).has_value();
}

bool same(const call::Rows& a, const call::Rows& b) {
  return a.at == b.at && a.stride == b.stride;
}

/// The quantized rows that a call may give with what it writes to `out`.
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
      data_(spec, weights_, *device_),
      logits_(spec.vocabulary, *device_) {
  for (std::size_t i = 0; i < buffer_count; ++i) cols_[i] = cols_of(spec, static_cast<Buffer>(i));
  for_each_linear(spec, [this](const LinearSpec& linear, double) {
    quantized_cols_ = std::max(quantized_cols_, linear.in);
  });
  for (const LayerSpec& layer : spec.layers) {
    if (const AttentionSpec* a = layer.attention())
      heads_numbers_ = std::max(heads_numbers_, a->heads * (a->head_dim + 4));
  }
}

void DeviceOps::reserve(std::size_t rows) {
  if (rows <= reserved_) return;
  const auto allocate = [&](std::size_t bytes) { return device_->allocate(bytes); };
  std::array<std::unique_ptr<DeviceMemory>, buffer_count> larger;
  for (std::size_t i = 0; i < buffer_count; ++i) larger[i] = allocate(rows * cols_[i] * sizeof(float));
  auto turned = allocate(rows * cols(Buffer::query) * sizeof(float));
  auto quantized = allocate(QuantizedLayout{rows, quantized_cols_}.bytes());
  recordings_.clear();
  buffers_ = std::move(larger);
  turned_ = std::move(turned);
  quantized_ = std::move(quantized);
  reserved_ = rows;
}

void DeviceOps::have(std::unique_ptr<DeviceMemory>& memory, std::size_t bytes) {
  if (bytes == 0 || (memory != nullptr && memory->bytes() >= bytes)) return;
  recordings_.clear();
  memory.reset();  // first: so there is never memory for both
  memory = device_->allocate(std::bit_ceil(bytes));
}

void DeviceOps::begin(const PassBatch& batch) {
  records_ = false;
  for (const SlotMove& move : batch.moves) blocks_.add(move);  // the next pass that succeeds does them first
  SPECTR_CHECK(batch.rows() >= 1 && batch.rows() <= reserved_);
  for (std::size_t r = 0; r < batch.rows(); ++r) blocks_.grow(batch.caches[r], batch.slots[r]);
  shape_.logits = 0;
  if (!batch.wanted.empty()) {
    bool logits_moved = false;
    shape_.logits = logits_.take(batch.wanted.size(), logits_moved);
    if (logits_moved) recordings_.clear();
  }
  if (data_.plan(batch, blocks_, shape_)) recordings_.clear();
  have(parts_, data_.parts() * heads_numbers_ * sizeof(float));
  have(shortlist_, shape_.wanted * spec_.head.shortlist.size() * sizeof(float));
  if (std::exchange(recorded_pool_, blocks_.times_moved()) != blocks_.times_moved()) recordings_.clear();
  if (recordings_.size() >= most_recordings) recordings_.clear();
  records_ = !recordings_.contains(shape_);
  calls_.clear();
  quantized_rows_ = {};
}

/// The norm of groups of a buffer's columns, in place.
void DeviceOps::record_norm(const std::optional<NormSpec>& spec, std::optional<float> epsilon, Buffer buffer,
                            std::size_t groups, std::size_t cols) {
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

void DeviceOps::norm(const NormSpec& spec, Buffer in, Buffer out) {
  record(call::Norm{.kind = spec.kind,
                    .epsilon = spec.epsilon,
                    .weight = weights_.vector(spec.weight),
                    .bias = weights_.vector(spec.bias),
                    .in = view(in),
                    .added = {},
                    .out = view(out),
                    .picked = {},
                    .rows = shape_.rows,
                    .groups = 1,
                    .cols = spec_.weight(spec.weight).cols});
}

void DeviceOps::add_norm(const NormSpec& spec) {
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

/// Rows quantized for a product: by the call that has just written them, or by one of its own. Products that
/// follow one another and read the same rows share them.
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
  if (is_quantized(weights)) {
    record(call::Product{weights, quantized(in, rows, linear.in), out, rows});
  } else {
    record(call::FloatProduct{weights, in, out, rows});
  }
}

void DeviceOps::linear(LinearRole, std::span<const LinearTarget> targets, Buffer in) {
  for (const auto& [linear, out] : targets) product(*linear, view(in), view(out), shape_.rows);
  for (const auto& [linear, out] : targets) {
    if (linear->bias)
      record(call::Add{view(out), {weights_.vector(*linear->bias)}, shape_.rows, linear->out});
  }
}

void DeviceOps::attention(std::size_t layer) {
  const AttentionSpec& a = *spec_.layers[layer].attention();
  const std::size_t kv_numbers = a.kv_heads * a.head_dim, q_numbers = a.heads * a.head_dim;
  const call::Cache cache = blocks_.of(a.kv_from.value_or(layer));
  const bool stores = !a.kv_from;
  if (a.norms_whole_vector) {
    record_norm(a.q_norm, {}, Buffer::query, 1, q_numbers);
    if (stores) record_norm(a.k_norm, {}, Buffer::key, 1, kv_numbers);
  } else {
    record_norm(a.q_norm, {}, Buffer::query, a.heads, a.head_dim);
    if (stores) record_norm(a.k_norm, {}, Buffer::key, a.kv_heads, a.head_dim);
  }
  if (stores) record_norm({}, a.value_epsilon, Buffer::value, a.kv_heads, a.head_dim);
  const call::Rows turned{{turned_.get()}, q_numbers};
  record(call::Turn{.q = view(Buffer::query),
                    .k = stores ? view(Buffer::key) : call::Rows(),
                    .v = stores ? view(Buffer::value) : call::Rows(),
                    .turned = turned,
                    .rows = shape_.rows,
                    .heads = a.heads,
                    .cache = cache,
                    .angles = data_.angles(layer),
                    .written = data_.written(),
                    .scales = data_.scales(layer),
                    .first = a.rope.first,
                    .dims = 2 * a.rope.frequencies.size(),
                    .interleaved = a.rope.interleaved,
                    .scale = a.scale});
  record(call::Attend{.q = turned,
                      .cache = cache,
                      .items = data_.items(layer),
                      .listed = data_.listed(),
                      .parts = {parts_.get()},
                      .item_count = shape_.items,
                      .rows_together = PassData::rows_together(shape_.rows),
                      .heads = a.heads,
                      .cap = a.score_cap});
  record(call::Merge{.parts = {parts_.get()},
                     .plan = data_.rows(layer),
                     .sinks = weights_.vector(a.sinks),
                     .out = view(Buffer::attended),
                     .rows = shape_.rows,
                     .heads = a.heads,
                     .kv_heads = a.kv_heads,
                     .dim = a.head_dim});
}

void DeviceOps::activate(const DenseSpec& spec) {
  const call::Rows up = view(Buffer::up), gate = view(Buffer::gate);
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
  if (std::exchange(records_, false)) {
    SPECTR_TRY(std::unique_ptr<Recording> recording, device_->record(calls_));
    recordings_[shape_] = std::move(recording);
  }
  SPECTR_TRY_VOID(data_.send());
  SPECTR_TRY_VOID(device_->run(*recordings_.at(shape_)));
  blocks_.forget_moves();
  return shape_.wanted == 0 ? HeldLogits() : HeldLogits(logits_[shape_.logits]);
}

// What the device backend's caps do not have is refused when a model is loaded.

void DeviceOps::latent_queries(std::size_t) {
  broken_contract("a feature that the backend has");
}
void DeviceOps::latent_values(std::size_t) {
  broken_contract("a feature that the backend has");
}
void DeviceOps::delta_net(std::size_t) {
  broken_contract("a feature that the backend has");
}
void DeviceOps::short_convolution(std::size_t) {
  broken_contract("a feature that the backend has");
}
std::size_t DeviceOps::experts(const ExpertsSpec&, Buffer) {
  broken_contract("a feature that the backend has");
}

}  // namespace spectr
