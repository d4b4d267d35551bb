#pragma once

#include <cstddef>

namespace spectr::lab {

// What M drafts of one token save in rejections over a single one, with recursive rejection (Yin et al., A
// Theoretical Perspective for Speculative Decoding, 2024, section 3): TV(p, q) − Π_{m≤M} TV(q^m, p). M ≥ 1.

/// p uniform on d tokens, q uniform on d/r of them: every q^m is q again, so (1 − 1/r) − (1 − 1/r)^M. r ≥ 1.
double uniform_batch_improvement(double r, std::size_t sequences);

/// p = Ber(u), q = Ber(v). After the first rejection all mass of q² lies on one token, of p-probability u or
/// 1 − u, which every further draft must miss: |u − v| (1 − u^{M−1}) for u > v, |u − v| (1 − (1−u)^{M−1}) for
/// u < v.
double bernoulli_batch_improvement(double u, double v, std::size_t sequences);

}  // namespace spectr::lab
