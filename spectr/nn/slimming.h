#pragma once

#include <optional>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// How a draft model is reduced while it is loaded. Verification preserves the target's distribution whatever
/// the draft model's is, so the reduction affects speed only.
struct Slimming {
  /// Format that the matrices of products are converted to (see quantizable_types()); none: as in the file.
  std::optional<TensorType> type = {};
  /// The tokens whose logits are computed, ascending. All other logits are −∞, except those of tokens in the
  /// current sequence, which are always computed. Empty: all.
  std::vector<Token> shortlist = {};

  bool changes_nothing() const { return !type && shortlist.empty(); }
};

/// Applies a reduction to a model's spec: to the weights of its products and to its head. Requires: the
/// shortlist is ascending and within the vocabulary. Error: a type that cannot be written, or whose block
/// size does not divide the columns of a matrix, by name.
Result<void> slim(ModelSpec& spec, const Slimming& how);

}  // namespace spectr
