#pragma once

#include <cstddef>
#include <optional>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/drafters/drafter_spec.h"

namespace spectr {

// How the rows of a block depend on the tokens before them: keys first, then, after ArchReader::end_of_keys,
// tensors.

struct TransitionKeys {
  std::optional<bool> from_anchor;  ///< the first row predicts; none: the file does not say
  bool has_confidence;
  std::size_t rank, candidates;  ///< of a selector; 0: there is none
};

/// Returns whether the file has a selector.
bool has_selector(const ArchReader& in);

Result<TransitionKeys> transition_keys(ArchReader& in);

/// Reads what the file has of Markov head, confidence head and selector, for a head with `rows` rows, and
/// which row of the block predicts first.
Result<void> read_transitions(ArchReader& in, const TransitionKeys& keys, std::size_t rows, BlockSpec& block);

}  // namespace spectr
