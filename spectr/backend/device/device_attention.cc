#include <algorithm>

#include "spectr/backend/device/device_ops.h"
#include "spectr/gguf/quant/quant_layout.h"

// Attention, including latent attention (MLA).
namespace spectr {

// The norms of heads before RoPE.

void DeviceOps::normalize_queries(const AttentionSpec& a) {
  const std::size_t groups = a.norms_whole_vector ? 1 : a.heads;
  record_group_norm(a.q_norm, {}, Buffer::query, groups, a.heads / groups * a.head_dim);
}

void DeviceOps::normalize_keys(const AttentionSpec& a) {
  if (a.kv_from) return;
  const std::size_t groups = a.norms_whole_vector ? 1 : a.kv_heads;
  record_group_norm(a.k_norm, {}, Buffer::key, groups, a.kv_heads / groups * a.head_dim);
  if (a.latent) record_group_norm(a.latent->norm, {}, Buffer::key, 1, a.latent->rank);
  record_group_norm({}, a.value_epsilon, Buffer::value, a.kv_heads, a.head_dim);
}

call::Rope DeviceOps::rope(std::size_t layer) const {
  const AttentionSpec& a = *spec_.layers[layer].attention();
  return {.q = view(Buffer::query),
          .k = a.kv_from ? call::Rows() : view(Buffer::key),
          .v = a.kv_from || a.latent ? call::Rows() : view(Buffer::value),
          .rotated = {{rotated_.get()}, a.heads * a.head_dim},
          .rows = shape_.rows,
          .heads = 0,
          .cache = blocks_.of(a.kv_from.value_or(layer)),
          .angles = data_.angles(layer),
          .written = data_.written(),
          .scales = data_.scales(layer),
          .first = a.rope.first,
          .dims = 2 * a.rope.frequencies.size(),
          .interleaved = a.rope.interleaved,
          .scale = a.scale};
}

void DeviceOps::store_keys(std::size_t layer) {
  split_products({Buffer::key, Buffer::value});
  normalize_keys(*spec_.layers[layer].attention());
  record(rope(layer));
}

void DeviceOps::attention(std::size_t layer) {
  const AttentionSpec& a = *spec_.layers[layer].attention();
  if (!a.latent) split_products({Buffer::query, Buffer::key, Buffer::value});
  normalize_queries(a);
  normalize_keys(a);
  call::Rope rotates = rope(layer);
  rotates.heads = a.heads;
  record(rotates);
  record(call::Attend{.q = rotates.rotated,
                      .cache = rotates.cache,
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
                     .dim = value_dim(a)});
}

std::size_t DeviceOps::quantized_bytes_of_heads(std::size_t rows) const {
  std::size_t most = 0;
  for (const LayerSpec& layer : spec_.layers) {
    const AttentionSpec* a = layer.attention();
    if (a == nullptr || !a->latent) continue;
    for (const std::size_t cols : {a->latent->q_dim, a->latent->rank})
      most = std::max(most, a->heads * QuantizedLayout{rows, cols}.bytes());
  }
  return most;
}

/// Multiplies each head of `in` by its own matrix. The arguments `…_head_stride` are head strides in numbers.
void DeviceOps::multiply_heads(const std::vector<LinearSpec>& heads, const call::Rows& in,
                               std::size_t in_head_stride, const call::Rows& out,
                               std::size_t out_head_stride) {
  const call::Weights weights = weights_.matrix(heads.front().weight);
  const std::size_t x_head_stride = in_head_stride * sizeof(float),
                    y_head_stride = out_head_stride * sizeof(float);
  if (!quant_layout(weights.type)) {
    record(
        call::FloatHeadProducts{{weights, in, out, shape_.rows}, heads.size(), x_head_stride, y_head_stride});
    return;
  }
  const call::QuantizedRows x{{quantized_.get()}, {shape_.rows, weights.cols}};
  record(call::QuantizeHeads{{in, shape_.rows, weights.cols, x}, heads.size(), x_head_stride});
  record(call::HeadProducts{{x, shape_.rows, {{weights, out}}}, heads.size(), y_head_stride});
}

/// A head's rotated dimensions follow those that its matrix reads, and are appended to its output.
void DeviceOps::latent_queries(std::size_t layer) {
  const AttentionSpec& a = *spec_.layers[layer].attention();
  const LatentSpec& latent = *a.latent;
  const std::size_t in_head_stride = a.q.out / a.heads, rotated = in_head_stride - latent.q_dim;
  const call::Rows in = view(Buffer::up), out = view(Buffer::query);
  multiply_heads(latent.keys_up, in, in_head_stride, out, a.head_dim);
  if (rotated == 0) return;
  record(call::Copy{{out.at.behind(latent.rank * sizeof(float)), out.stride},
                    {in.at.behind(latent.q_dim * sizeof(float)), in.stride},
                    shape_.rows,
                    rotated,
                    a.heads,
                    a.head_dim,
                    in_head_stride});
}

void DeviceOps::latent_values(std::size_t layer) {
  const AttentionSpec& a = *spec_.layers[layer].attention();
  const LatentSpec& latent = *a.latent;
  multiply_heads(latent.values_up, view(Buffer::attended), latent.rank, view(Buffer::up), latent.value_dim);
}

}  // namespace spectr
