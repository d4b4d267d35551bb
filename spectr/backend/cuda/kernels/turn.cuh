#pragma once

// Queries and keys turn by their positions; keys and values go to the cache.

#include "spectr/backend/cuda/kernels/attention.cuh"

namespace spectr::cuda {

struct Turn {
  const float* y;      ///< [part][n][heads · D queries, kv_heads · D keys, as many values]
  const Two* angles;   ///< [n][turned / 2]: cosine and sine
  const PoolSlot* to;  ///< [n], where its key and value go
  float* q;            ///< [n][heads · D]
  u8* pool;
  long block_bytes, layer;         ///< as in Attention
  int n, heads, kv_heads, turned;  ///< dimensions of a head that turn, a multiple of 8
  bool interleaved;                ///< pairs (2 i, 2 i + 1); otherwise (i, i + turned / 2)
  float scale;                     ///< of queries
};

/// Groups of 128 threads have 512 columns of a row: grid (n, (heads + 2 kv_heads) · dim / 512).
template <int dim>
struct TurnKernel {
  static constexpr int threads = 128;

  template <int parts>
  static SPECTR_DEVICE void run(const Turn& p) {
    const int r = group_x(), column = 4 * (group_y() * threads + thread());
    const int d = column % dim, head = column / dim, width = (p.heads + 2 * p.kv_heads) * dim;
    if (column >= width) return dependents();
    const PoolSlot to = p.to[r];
    const Two* const angles = p.angles + static_cast<long>(r) * p.turned / 2;
    dependents();
    predecessors();
    Four v = four_of<parts>(p.y, p.n, width, r, column);
    if (head < p.heads + p.kv_heads && d < p.turned) {
      const int half = p.turned / 2, i = d % half;
      if (p.interleaved) {
        const Two a = angles[d / 2], b = angles[d / 2 + 1];
        v = {left(v.x, v.y, a), right(v.x, v.y, a), left(v.z, v.w, b), right(v.z, v.w, b)};
      } else if (d < half) {
        const Four w = four_of<parts>(p.y, p.n, width, r, column + half);
        v = {left(v.x, w.x, angles[i]), left(v.y, w.y, angles[i + 1]), left(v.z, w.z, angles[i + 2]),
             left(v.w, w.w, angles[i + 3])};
      } else {
        const Four u = four_of<parts>(p.y, p.n, width, r, column - half);
        v = {right(u.x, v.x, angles[i]), right(u.y, v.y, angles[i + 1]), right(u.z, v.z, angles[i + 2]),
             right(u.w, v.w, angles[i + 3])};
      }
    }
    if (head < p.heads) {
      *reinterpret_cast<Four*>(p.q + static_cast<long>(r) * p.heads * dim + column) = {
          mul(v.x, p.scale), mul(v.y, p.scale), mul(v.z, p.scale), mul(v.w, p.scale)};
      return;
    }
    const bool is_key = head < p.heads + p.kv_heads;
    const int of = is_key ? head - p.heads : head - p.heads - p.kv_heads;
    u8* const at = p.pool + to / 64 * p.block_bytes + p.layer + static_cast<long>(of) * 256 * dim;
    *reinterpret_cast<TwoWords*>(is_key ? at + (d / 4 * 64 + to % 64) * 8
                                        : at + 128 * dim + (to % 64 * dim + d) * 2) = {halves_of(v.x, v.y),
                                                                                       halves_of(v.z, v.w)};
  }

 private:
  static SPECTR_DEVICE float left(float a, float b, Two angle) {
    return sub(mul(a, angle.x), mul(b, angle.y));
  }
  static SPECTR_DEVICE float right(float a, float b, Two angle) {
    return add(mul(a, angle.y), mul(b, angle.x));
  }
};

}  // namespace spectr::cuda
