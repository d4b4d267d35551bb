#pragma once

#include <string>
#include <string_view>

namespace spectr {

/// Features that some backends lack. See Requirement.
enum class Feature {
  sliding_window,
  score_cap,
  attention_sinks,
  attention_temperature,
  gated_attention,
  latent_attention,
  shared_keys,
  value_norms,
  whole_vector_norms,
  rope_magnitude,
  rope_by_context,
  stream_norms,
  recurrent_mixer,
  short_convolution,
  experts,
  expert_groups,
  expert_scales,
  router_norms,
  blocks_beside_experts,
  clamped_activation,
  relu,
  exact_gelu,
  logit_cap,
  embedding_scale,
  layer_embeddings,
  segment_embeddings,
  residual_scale,
  output_scale,
  logit_scale,
  forbidden_tokens,
  head_without_norm,
  drafter_inputs,
  block_convolutions,
  taps,
  shortlist,
};
std::string_view name_of(Feature feature);

/// A feature that the model needs, and where the file says so: "ARCH.attention.sliding_window is 4096".
struct Requirement {
  Feature feature;
  std::string source;
};

}  // namespace spectr
