#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/drafters/drafter_spec.h"

namespace spectr {

// Parts that families of drafters share. Errors name the drafter's file,
// the key or tensor, and both values where the target's differs.

/// The target's states that a drafter's file names in ARCH.target_layers.
Result<std::vector<TapSpec>> target_taps(const Gguf& file, std::string_view architecture);

/// Fails unless the target has the layers that the drafter reads.
Result<void> check_taps(ArchReader& in, const std::vector<TapSpec>& taps, const ModelSpec& target);

/// Fails if ARCH.NAME is there and is not `of_target`, which `what` of the target is.
Result<void> same_as_target(ArchReader& in, std::string_view name, std::size_t of_target,
                            std::string_view what, const ModelSpec& target);

/// The embedding of the drafter's file, or the target's. Requires: spec().width was read.
Result<void> drafter_embedding(ArchReader& in, const ModelSpec& target);

/// The head of the drafter's file, with the tokens of its rows in d2t, or the target's head.
Result<void> drafter_head(ArchReader& in, const ModelSpec& target);

/// fc.weight, from the features of `taps` states of the target.
Result<LinearSpec> feature_projection(ArchReader& in, std::size_t taps, const ModelSpec& target);

}  // namespace spectr
