#pragma once

#include <cstddef>
#include <optional>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/drafters/drafter_spec.h"

namespace spectr {

// Reads how the rows of a block depend on the tokens before them: keys first, then, after
// ArchReader::end_of_keys(), tensors.

struct TransitionKeys {
  std::optional<bool> from_anchor;  ///< true if the first row predicts; none: not specified
  bool has_confidence;
  std::size_t rank, candidates;  ///< of a selector; 0: none
};

/// True if the file has a selector.
bool has_selector(const ArchReader& in);

Result<TransitionKeys> transition_keys(ArchReader& in);

/// Reads the Markov head, the confidence head and the selector, as far as present, for a head with `rows`
/// rows, and the index of the first predicting row of the block.
Result<void> read_transitions(ArchReader& in, const TransitionKeys& keys, std::size_t rows, BlockSpec& block);

}  // namespace spectr
