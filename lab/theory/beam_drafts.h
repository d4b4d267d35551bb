#pragma once

#include <cstddef>

#include "lab/theory/joint_decoding.h"
#include "lab/theory/markov_pair.h"
#include "spectr/base/result.h"
#include "spectr/decode/beam_drafter.h"

namespace spectr::lab {

/// What MTAD drafts on a pair: the likeliest of W beams of L tokens, the top ones kept; fewer tokens where
/// the text has no room for them.
class BeamDrafts {
 public:
  BeamDrafts(const MarkovPair& pair, std::size_t beams, std::size_t length);

  struct LogLikelihood {
    double draft;      ///< log p of the draft
    double likeliest;  ///< max log p of as many tokens
  };
  /// Of the draft after token n = x. Requires: n < horizon.
  Result<LogLikelihood> after(std::size_t n, std::size_t x);

  /// The likeliest continuations under p.
  const LikeliestBlocks& likeliest() const { return likeliest_; }

 private:
  const MarkovPair& pair_;
  BeamDrafter drafter_;
  Models models_;
  LikeliestBlocks likeliest_;
};

/// The ε ≤ 0 nearest to 0 with log p(draft) ≥ (1 − ε) max log p everywhere: at every step and after every
/// token, whatever a decoder accepts.
Result<double> worst_beam_error(const MarkovPair& pair, std::size_t beams, std::size_t length);

}  // namespace spectr::lab
