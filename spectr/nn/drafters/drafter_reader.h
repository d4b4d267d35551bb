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
// the key or tensor, and both values if they differ from the target's.

/// Adds a matrix of the target to the drafter's weights.
WeightId weight_of_target(ModelSpec& spec, const ModelSpec& target, WeightId id);

/// Returns the target's states that a drafter's file lists in ARCH.target_layers.
Result<std::vector<TapSpec>> target_taps(const Gguf& file, std::string_view architecture);

/// Fails if the target lacks a layer that the drafter reads.
Result<void> check_taps(ArchReader& in, const std::vector<TapSpec>& taps, const ModelSpec& target);

/// Fails if ARCH.NAME is present and differs from `of_target`, the target's value of `what`.
Result<void> same_as_target(ArchReader& in, std::string_view name, std::size_t of_target,
                            std::string_view what, const ModelSpec& target);

/// Reads the embedding from the drafter's file, or takes the target's. Requires: spec().width was read.
Result<void> drafter_embedding(ArchReader& in, const ModelSpec& target);

/// Reads the head from the drafter's file, with the tokens of its rows in d2t. Without `output.weight` it is
/// the file's embedding, if `may_be_tied` and the file has one, or else the target's head.
Result<void> drafter_head(ArchReader& in, const ModelSpec& target, bool may_be_tied);

/// Reads PREFIX.scale, if present: the factor of the product. Fails if the product has a bias, too.
Result<void> read_scale(ArchReader& in, const std::string& prefix, LinearSpec& linear);

/// Reads fc.weight, which maps the features of `taps` states of the target.
Result<LinearSpec> feature_projection(ArchReader& in, std::size_t taps, const ModelSpec& target);

}  // namespace spectr
