#pragma once

// Queries and keys turn by their positions; keys and values go to the cache: of any layer.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

/// A group of 64 threads for each head, of queries, then of keys and values: grid (rows, heads + kv_heads).
struct RotateKernel {
  static constexpr int threads = 64;

  static SPECTR_DEVICE void run(const Rotate& p) {
    dependents();
    predecessors();
    const int r = group_x(), head = group_y();
    if (head < p.heads) {
      float* const to = row_of(p.turned, r) + head * p.dim;
      const float scale = p.scales != nullptr ? p.scales[r] : p.scale;
      for (int d = thread(); d < p.dim; d += threads) to[d] = mul(turned(p, p.q, head, r, d), scale);
      return;
    }
    const int of = head - p.heads;
    const PoolSlot slot = p.to[r];
    auto* const at = reinterpret_cast<std::uint16_t*>(p.pool + slot / 64 * p.block_bytes + p.layer +
                                                      static_cast<long>(of) * 256 * p.dim);
    for (int d = thread(); d < p.dim; d += threads) {
      at[(d / 4 * 64 + slot % 64) * 4 + d % 4] = half_of(turned(p, p.k, of, r, d));
      at[64 * p.dim + slot % 64 * p.dim + d] = half_of(number_of(p.v, r, of * p.dim + d));
    }
  }

 private:
  static SPECTR_DEVICE std::uint16_t half_of(float x) { return static_cast<std::uint16_t>(halves_of(x, 0)); }

  /// Dimension d of a head of row r.
  static SPECTR_DEVICE float turned(const Rotate& p, const Matrix& heads, int head, int r, int d) {
    const int first = head * p.dim, i = d - p.first, half = p.dims / 2;
    const float x = number_of(heads, r, first + d);
    if (i < 0 || i >= p.dims) return x;
    const bool is_left = p.interleaved ? i % 2 == 0 : i < half;
    const int pair = p.interleaved ? i / 2 : i % half, step = p.interleaved ? 1 : half;
    const Two angle = reinterpret_cast<const Two*>(p.angles)[static_cast<long>(r) * half + pair];
    const float other = number_of(heads, r, first + d + (is_left ? step : -step));
    return is_left ? sub(mul(x, angle.x), mul(other, angle.y)) : add(mul(other, angle.y), mul(x, angle.x));
  }
};

}  // namespace spectr::cuda
