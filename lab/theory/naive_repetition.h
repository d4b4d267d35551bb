#pragma once

#include <cstddef>
#include <vector>

#include "spectr/base/choices.h"
#include "spectr/transport/distribution.h"

namespace spectr::lab {

/// The obvious procedure for k drafts, which is *not valid* (SpecTr, section 4): draw X from p and accept it
/// with probability min(1, q(X)/p(X)), up to k times; after the last rejection draw from (q − p)₊,
/// normalised. Takes its randomness for drafts and tests from `choices`.
Token naive_repetition(const Distribution& p, const Distribution& q, std::size_t k, Choices& choices);

/// Returns the distribution of its output, with β = Σ min(p, q):
///
///   min(p, q) (1 − (1−β)^k)/β + (q − p)₊ (1−β)^{k−1}.
///
/// Example: p = Ber(1), q = Ber(½) give P(1) = 1 − 2^−k, whereas q(1) = ½.
std::vector<double> naive_distribution(const Distribution& p, const Distribution& q, std::size_t k);

}  // namespace spectr::lab
