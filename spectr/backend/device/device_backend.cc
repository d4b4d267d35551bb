#include "spectr/backend/device/device_backend.h"

#include <algorithm>

#include "spectr/backend/device/calls.h"
#include "spectr/backend/device/device_ops.h"
#include "spectr/backend/device/weights/device_weights.h"
#include "spectr/backend/device/weights/weight_panels.h"

namespace spectr {
namespace {

std::vector<Feature> device_features() {
  return {Feature::sliding_window,
          Feature::score_cap,
          Feature::attention_sinks,
          Feature::attention_temperature,
          Feature::gated_attention,
          Feature::latent_attention,
          Feature::shared_keys,
          Feature::value_norms,
          Feature::whole_vector_norms,
          Feature::rope_magnitude,
          Feature::rope_by_context,
          Feature::stream_norms,
          Feature::recurrent_mixer,
          Feature::short_convolution,
          Feature::experts,
          Feature::expert_groups,
          Feature::expert_scales,
          Feature::router_norms,
          Feature::blocks_beside_experts,
          Feature::clamped_activation,
          Feature::relu,
          Feature::logit_cap,
          Feature::embedding_scale,
          Feature::layer_embeddings,
          Feature::residual_scale,
          Feature::output_scale,
          Feature::logit_scale,
          Feature::forbidden_tokens,
          Feature::shortlist,
          Feature::taps,
          Feature::drafter_inputs};
}

}  // namespace

Caps device_caps(std::string_view backend) {
  Caps all = host_caps(backend, device_features());
  all.formats = {TensorType::f32, TensorType::f16, TensorType::bf16};
  all.formats.insert(all.formats.end(), device_layouts().begin(), device_layouts().end());
  return all;
}

std::string DeviceBackend::place() const {
  const DeviceInfo info = device_->info();
  return fmt::format("{} ({})", info.name, info.description);
}

Result<std::unique_ptr<Ops>> DeviceBackend::make(const ModelSpec& spec, const KvTypes& kv) const {
  std::size_t widest = spec.width;
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* a = layer.attention();
    if (a != nullptr && a->norms_whole_vector) widest = std::max(widest, a->heads * a->head_dim);
  }
  if (widest > call::max_norm_columns) {
    return error(ErrorCode::unsupported,
                 "{}: norms of {} columns, but {} has kernels for {}; --device none computes on the CPU",
                 spec.file, widest, place(), call::max_norm_columns);
  }
  SPECTR_TRY_VOID(DeviceWeights::check_experts(spec));
  const std::size_t bytes = DeviceWeights::bytes_of_all(spec);
  if (const DeviceInfo info = device_->info(); bytes > info.free_bytes) {
    const auto gigabytes = [](std::size_t n) { return static_cast<double>(n) / 1e9; };
    return error(
        ErrorCode::out_of_memory,
        "{}: {} takes {:.3g} GB on the device, of which {:.3g} GB are free; --device none computes on the "
        "CPU",
        place(), spec.file, gigabytes(bytes), gigabytes(info.free_bytes));
  }
  return std::make_unique<DeviceOps>(spec, kv, device_, pool_);
}

}  // namespace spectr
