#pragma once

#include <cstddef>
#include <vector>

#include "spectr/base/choices.h"
#include "spectr/transport/distribution.h"

namespace spectr::lab {

/// What suggests itself for k drafts and is *not valid* (SpecTr, section 4): draw X from p and accept it with
/// probability min(1, q(X)/p(X)), up to k times; after the last rejection draw from (q − p)₊, normalised.
/// Calls `choices` for drafts and tests.
Token naive_repetition(const Distribution& p, const Distribution& q, std::size_t k, Choices& choices);

/// The distribution of what it puts out, β = Σ min(p, q):
///
///   min(p, q) (1 − (1−β)^k)/β + (q − p)₊ (1−β)^{k−1}.
///
/// Example: p = Ber(1), q = Ber(½) give P(1) = 1 − 2^−k, where q has ½.
std::vector<double> naive_distribution(const Distribution& p, const Distribution& q, std::size_t k);

}  // namespace spectr::lab
