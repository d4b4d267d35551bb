#pragma once

#include <cstddef>

#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plans/survivors.h"

namespace spectr {

/// A position of a sequence as a draft model sees it, independent of what was drafted there. Replay computes
/// the value of every setting from such positions.
struct DraftedPosition {
  double confidence = 0.0;   ///< the draft model's largest probability, at temperature 1 and without filters
  double merging = 0.0;      ///< the probability that two drafts are equal, Σ p(x)²
  Survivors survivors = {};  ///< of drafts there, given the sequence's token
};

/// Compares the warped distributions p of a draft model and q of the target at a position whose token is
/// known. If there are more than 256 tokens, only the likelier ones are compared singly, and all others count
/// as one token. If q(token) = 0, nothing survives. Survivors are those of up to `max_drafts` drafts.
DraftedPosition compare(const Distribution& p, const Distribution& q, Token token, double confidence,
                        std::size_t max_drafts = Survivors::max_drafts);

/// Compares them at a position of a prompt, whose token was not drawn from q: the acceptance is the mean over
/// the tokens of q.
DraftedPosition expected(const Distribution& p, const Distribution& q, double confidence);

}  // namespace spectr
