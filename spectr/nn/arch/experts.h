#pragma once

#include <cstddef>
#include <optional>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"

namespace spectr {

/// The settings of a model's experts.
struct ExpertKeys {
  std::size_t count, used;
  std::size_t leading_dense;         ///< layers before those with experts
  std::optional<std::size_t> width;  ///< width of an expert; none: the layer's feed_forward_length
  ExpertsSpec::Gating gating;
  bool normalized;
  float weights_scale;
  std::size_t groups, groups_used;
  std::size_t shared;  ///< width of the block that all tokens share; 0: none
};

/// Reads expert_count, expert_used_count and related keys. Must precede decoder_keys() (parts.h), which
/// refuses experts that were not read. `gating` and `normalized` are the family's defaults for absent keys.
/// Requires: the key expert_count is present and not 0.
Result<ExpertKeys> expert_keys(ArchReader& in, ExpertsSpec::Gating gating, bool normalized);

/// Reads the same keys if expert_count is present and not 0; else returns nothing.
Result<std::optional<ExpertKeys>> experts_or_none(ArchReader& in, ExpertsSpec::Gating gating,
                                                  bool normalized);

/// Reads a layer's experts: the router ffn_gate_inp and, if present, its exp_probs_b; ffn_gate_exps and
/// ffn_up_exps, or both in ffn_gate_up_exps; ffn_down_exps. The block that all tokens share (ffn_gate_shexp
/// and so on) becomes the layer's dense block. `ffn`: the layer's feed_forward_length. Error: a number of
/// experts that differs from the keys', or a quantized router.
Result<void> experts(ArchReader& in, const ExpertKeys& keys, std::size_t layer, std::size_t ffn,
                     Activation activation);

}  // namespace spectr
