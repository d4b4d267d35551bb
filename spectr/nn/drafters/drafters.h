#pragma once

#include <span>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/drafters/drafter_spec.h"
#include "spectr/nn/transformer.h"

namespace spectr {

/// A family of drafters, with the function that reads its files for a target.
struct DrafterFamily {
  std::string_view architecture;  ///< value of `general.architecture`
  bool lists_layers;  ///< it reads the target's states in ARCH.target_layers; otherwise the final state
  Result<void> (*read)(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter);
};

/// Returns all families of drafters.
std::span<const DrafterFamily> drafter_families();

/// True if the file holds a trained drafter, which reads states of a target, rather than a model. It may be a
/// model's additional layer for drafting alone.
bool is_trained_drafter(const Gguf& file);

/// True if a model's file has an additional layer for drafting, which predicts the token after the next one
/// (arXiv 2404.19737).
bool has_next_token_layer(const Gguf& file);

/// Returns the states of the target that the drafter reads, for LoadSettings of the target. Requires:
/// is_trained_drafter() or has_next_token_layer(). Fails if the file does not name them.
Result<TapSettings> taps_of(const Gguf& file);

/// Returns the drafter's computation for this target. Fails if a key or tensor, named in the error, is
/// missing, unknown, out of bounds or does not fit the target. Requires: as taps_of().
Result<DrafterSpec> read_drafter_spec(const Gguf& file, const ModelSpec& target);

// One source file per family, and one for drafting layers of the target's own file.
Result<TapSettings> next_token_taps(const Gguf& file);
Result<DrafterSpec> read_next_token_layer(const Gguf& file, const ModelSpec& target);
Result<void> read_dflash(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter);
Result<void> read_eagle3(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter);
Result<void> read_gemma4_assistant(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter);

}  // namespace spectr
