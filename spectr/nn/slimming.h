#pragma once

#include <optional>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// How a draft model is made smaller while it is loaded. Verification gives the target's distribution
/// whatever the draft's is, so a draft may be as rough as pays.
struct Slimming {
  /// What the matrices of products become (see quantizable_types()); none: they stay as the file has them.
  std::optional<TensorType> type = {};
  /// The tokens whose logits are computed, ascending; every other one is −∞, but for those of the sequence
  /// at hand, which are always among them. Empty: all.
  std::vector<Token> shortlist = {};

  bool changes_nothing() const { return !type && shortlist.empty(); }
};

/// Changes the weights of a model's products, and its head. Requires: the shortlist ascends, below the
/// vocabulary. Error: a type that cannot be written, or whose blocks do not divide the columns of a matrix,
/// by name.
Result<void> slim(ModelSpec& spec, const Slimming& how);

}  // namespace spectr
