#pragma once

#include <vector>

#include "spectr/base/token.h"
#include "spectr/decode/costs/cost_model.h"
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
/// as one token. If q(token) = 0, nothing survives.
DraftedPosition compare(const Distribution& p, const Distribution& q, Token token, double confidence);

/// Compares them at a position of a prompt, whose token was not drawn from q: the acceptance is the mean over
/// the tokens of q.
DraftedPosition expected(const Distribution& p, const Distribution& q, double confidence);

/// Returns the part of a position that is kept for later sequences.
LearnedPosition learned_from(const DraftedPosition& position);

/// Returns a position with these numbers. The acceptance is interpolated linearly in log k. If one of k
/// drafts survives, each other one survives with probability `merging`.
DraftedPosition position_of(const LearnedPosition& learned);

/// Returns positions for a pair of models about which nothing is known. (Drafts of published pairs are
/// accepted about as often as their model is confident, and a little more often at low confidence.)
std::vector<LearnedPosition> guessed_positions();

}  // namespace spectr
