#pragma once

#include <span>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/drafters/drafter_spec.h"
#include "spectr/nn/transformer.h"

namespace spectr {

/// A family of drafters: how its files are read, for a target.
struct DrafterFamily {
  std::string_view architecture;  ///< as `general.architecture` has it
  Result<void> (*read)(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter);
};

/// All of them.
std::span<const DrafterFamily> drafter_families();

/// Returns whether the file holds a trained drafter, which reads states of a target, rather than a model.
bool is_trained_drafter(const Gguf& file);

/// Returns whether the file of a model has a layer of its own that drafts: it predicts the token after the
/// next (arXiv 2404.19737).
bool has_next_token_layer(const Gguf& file);

/// Returns the states of the target that the drafter reads, for LoadSettings of the target. Requires:
/// is_trained_drafter() or has_next_token_layer(). Fails if the file does not name them.
Result<TapSettings> taps_of(const Gguf& file);

/// Returns what the drafter computes for this target. Fails if a key or tensor is missing, unknown, out of
/// bounds or does not fit the target, by name. Requires: as taps_of().
Result<DrafterSpec> read_drafter_spec(const Gguf& file, const ModelSpec& target);

// A file for each family, and for layers of the target's own file.
Result<TapSettings> next_token_taps(const Gguf& file);
Result<DrafterSpec> read_next_token_layer(const Gguf& file, const ModelSpec& target);
Result<void> read_dflash(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter);
Result<void> read_eagle3(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter);

}  // namespace spectr
