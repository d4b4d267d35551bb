#pragma once

#include <vector>

#include "spectr/decode/auto/drafted_position.h"
#include "spectr/decode/costs/cost_model.h"

namespace spectr {

/// Returns the part of a position that is kept for later sequences.
LearnedPosition learned_from(const DraftedPosition& position);

/// Returns a position with these numbers. The acceptance is linear in log k between the kept numbers and
/// beyond them, and at most 1. If one of k drafts survives, each other one survives with probability
/// `merging`.
DraftedPosition position_of(const LearnedPosition& learned);

/// Returns positions for a pair of models about which nothing is known. (Drafts of published pairs are
/// accepted about as often as their model is confident, and a little more often at low confidence.)
std::vector<LearnedPosition> guessed_positions();

}  // namespace spectr
