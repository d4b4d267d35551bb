#pragma once

#include <cstddef>
#include <span>

namespace spectr {

/// Kernels for the states of recurrent layers: small f32 matrices that every token reads and writes. The
/// order of sums depends only on the sizes. Tests compare the kernels with plain loops in double.

/// y[i] = Σ_j m[i][j] a[j] and z[i] = Σ_j m[i][j] b[j]; reads m once. m: [y.size(), a.size()].
void two_products(std::span<const float> m, std::span<const float> a, std::span<const float> b,
                  std::span<float> y, std::span<float> z);

/// m[i][j] += u[i] k[j]. m: [u.size(), k.size()].
void add_outer_product(std::span<float> m, std::span<const float> u, std::span<const float> k);

/// y[j] += factor · x[j].
void add_scaled(std::span<float> y, float factor, std::span<const float> x);

/// x[j] *= factor.
void scale(std::span<float> x, float factor);

}  // namespace spectr
