#pragma once

#include <cstddef>
#include <optional>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"

namespace spectr {

/// The experts that every layer has, as the keys have them.
struct ExpertKeys {
  std::size_t count, used;
  std::optional<std::size_t> width;  ///< of each; else the layer's feed_forward_length
  ExpertsSpec::Gating gating;
  bool normalized;
  float weights_scale;
};

/// expert_count, expert_used_count and what they are used with, before decoder_keys (parts.h), which refuses
/// experts that nobody has read. `gating` and `normalized`: what a family's routers do where no key says it.
/// Requires: the key expert_count is there and not 0.
Result<ExpertKeys> expert_keys(ArchReader& in, ExpertsSpec::Gating gating, bool normalized);

/// A layer's router ffn_gate_inp, and its experts ffn_gate_exps, ffn_up_exps, ffn_down_exps with SiLU.
/// `ffn`: the layer's feed_forward_length. Error: another number of experts than the keys', a router of a
/// quantized format.
Result<ExpertsSpec> experts(ArchReader& in, const ExpertKeys& keys, std::size_t layer, std::size_t ffn);

}  // namespace spectr
