#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "spectr/decode/cost_curve.h"

namespace spectr {

/// Seconds of what is done between passes.
struct SelectCosts {
  double law = 0.0;       ///< a row of logits becomes a law of the whole vocabulary; a token is drawn from it
  double filtered = 0.0;  ///< the same with filters; plans for such laws cost next to nothing
  double likelihood = 0.0;  ///< of a token that becomes text, under the unfiltered target
  double one = 0.0;         ///< a plan for one draft, for laws of the whole vocabulary
  double several = 0.0;     ///< a plan for several drafts
};

/// Seconds of what a draft model does.
struct DraftCosts {
  CostCurve passes;
  /// What a block takes longer because the model's passes and the target's alternate: each pushes the other's
  /// weights out of the caches.
  double alternation = 0.0;
  /// Of a token of a text that it reads in one go, where only the last one's logits are wanted. None: as a
  /// row of a pass.
  std::optional<double> reading = std::nullopt;
};

/// What an automatic choice is based on: measured once per machine, set of models and number of threads, and
/// stored, never measured while a text is being decided.
struct Costs {
  CostCurve target;
  std::vector<DraftCosts> drafts;  ///< of each draft model, if any
  SelectCosts select;

  /// For one of `texts` texts that take all passes together. Requires: texts ≥ 1.
  Costs shared(std::size_t texts) const;

  /// A number that is the same for the same costs only: printed beside the seed, because both fix the text.
  std::uint64_t hash() const;
};

}  // namespace spectr
