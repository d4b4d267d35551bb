#pragma once

#include <cstddef>

#include "lab/theory/joint_decoding.h"
#include "lab/theory/markov_pair.h"
#include "spectr/base/result.h"
#include "spectr/decode/beam_drafter.h"

namespace spectr::lab {

/// MTAD's drafts on a pair: the likeliest of W beams of L tokens, keeping the top beams; fewer tokens at the
/// end of the sequence.
class BeamDrafts {
 public:
  BeamDrafts(const MarkovPair& pair, std::size_t beams, std::size_t length);

  struct LogLikelihood {
    double draft;      ///< log p of the draft
    double likeliest;  ///< max log p of the same number of tokens
  };
  /// Returns the values of the draft after token n = x. Requires: n < horizon.
  Result<LogLikelihood> after(std::size_t n, std::size_t x);

  /// Returns the likeliest continuations under p.
  const LikeliestBlocks& likeliest() const { return likeliest_; }

 private:
  const MarkovPair& pair_;
  BeamDrafter drafter_;
  OwnedModels models_;
  LikeliestBlocks likeliest_;
};

/// Returns the ε ≤ 0 closest to 0 with log p(draft) ≥ (1 − ε) max log p at every step and after every token,
/// regardless of what a decoder accepts.
Result<double> worst_beam_error(const MarkovPair& pair, std::size_t beams, std::size_t length);

}  // namespace spectr::lab
