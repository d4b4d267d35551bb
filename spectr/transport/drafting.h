#pragma once

#include <cstddef>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// How the k drafts of a node are drawn.
enum class Drafting { independent, without_replacement };

/// Draws min(k, |supp p|) different tokens: each from p restricted to the tokens not drawn yet, renormalised.
RecycledVector<Token> draw_without_replacement(const Distribution& p, std::size_t k, Choices& choices);

}  // namespace spectr
