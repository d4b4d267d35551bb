#pragma once

#include <cstddef>
#include <optional>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"

namespace spectr {

/// The experts of layers, as the keys have them.
struct ExpertKeys {
  std::size_t count, used;
  std::size_t leading_dense;         ///< layers before those that have experts
  std::optional<std::size_t> width;  ///< of each; else the layer's feed_forward_length
  ExpertsSpec::Gating gating;
  bool normalized;
  float weights_scale;
  std::size_t groups, groups_used;
  std::size_t shared;  ///< width of a block for every token beside them; 0: none
};

/// expert_count, expert_used_count and what they are used with, before decoder_keys (parts.h), which refuses
/// experts that nobody has read. `gating` and `normalized`: what a family's routers do where no key says it.
/// Requires: the key expert_count is there and not 0.
Result<ExpertKeys> expert_keys(ArchReader& in, ExpertsSpec::Gating gating, bool normalized);

/// The same where the key is there and not 0; else nothing.
Result<std::optional<ExpertKeys>> experts_or_none(ArchReader& in, ExpertsSpec::Gating gating,
                                                  bool normalized);

/// A layer's experts: the router ffn_gate_inp and, where they are there, its exp_probs_b; ffn_gate_exps and
/// ffn_up_exps, or both in ffn_gate_up_exps; ffn_down_exps. The block that is shared by all tokens,
/// ffn_gate_shexp and so on, becomes the layer's dense block. `ffn`: the layer's feed_forward_length. Error:
/// another number of experts than the keys', a router of a quantized format.
Result<void> experts(ArchReader& in, const ExpertKeys& keys, std::size_t layer, std::size_t ffn,
                     Activation activation);

}  // namespace spectr
