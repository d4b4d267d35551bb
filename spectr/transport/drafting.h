#pragma once

#include <cstddef>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// The way the k drafts of a node are drawn.
enum class Drafting {
  independent,
  without_replacement,
  likeliest_and_one,  ///< the k − 1 likeliest tokens, and one draw from the others (UniVer, arXiv 2605.04543)
};

/// Draws min(k, |supp p|) different tokens, each from p restricted to the remaining tokens, renormalised.
RecycledVector<Token> draw_without_replacement(const Distribution& p, std::size_t k, Choices& choices);

/// Returns the min(k − 1, |supp p|) likeliest tokens in descending order of p, ties by id, and then one draw
/// from p without them, renormalised, if p has other tokens. Requires: k ≥ 1. Cost: O(V log k).
RecycledVector<Token> draw_likeliest_and_one(const Distribution& p, std::size_t k, Choices& choices);

}  // namespace spectr
