#pragma once

// RoPE of queries and keys, and stores of keys and values to the KV cache.

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

/// Uses a block of 64 threads for each query head, then for each KV head. Grid: (rows, heads + kv_heads). A
/// warp has dimensions that share a scale.
struct RotateKernel {
  static constexpr int threads = 64;
  static_assert(scale_dims == 32);

  static SPECTR_DEVICE void run(const Rotate& p) {
    dependents();
    predecessors();
    const int r = group_x(), head = group_y(), dim = p.head.dim;
    if (head < p.heads) {
      float* const to = row_of(p.rotated, r) + head * dim;
      const float scale = p.scales != nullptr ? p.scales[r] : p.scale;
      for (int d = thread(); d < dim; d += threads) to[d] = mul(rotated(p, p.q, head, r, d), scale);
      return;
    }
    const int of = head - p.heads, slot = p.to[r] % 64;
    u8* const at = p.pool + p.to[r] / 64 * p.block_bytes + p.layer + static_cast<long>(of) * p.head.bytes;
    for (int d = thread(); d / 32 * 32 < dim; d += threads) {
      const bool is_there = d < HeadLayout::whole_fours(dim);
      store(p.head.key_type, at + p.head.key(slot, d), at + p.head.key_scale(slot, d), is_there,
            d < dim ? rotated(p, p.k, of, r, d) : 0.0f);
      if (p.v.at == nullptr) continue;
      store(p.head.value_type, at + p.head.value(slot, d), at + p.head.value_scale(slot, d), is_there,
            d < dim ? number_of(p.v, r, of * dim + d) : 0.0f);
    }
  }

 private:
  static SPECTR_DEVICE std::uint16_t half_of(float x) { return static_cast<std::uint16_t>(halves_of(x, 0)); }

  /// Stores a lane's number. For q8_0, the warp's numbers share a scale, and it equals round_to_q8.
  static SPECTR_DEVICE void store(int type, u8* number, u8* scale, bool is_there, float x) {
    if (type == 2) {
      // Compared as integers, the bits of |x| are ordered like the numbers; NaN is largest.
      u32 top = bits_of(x) & 0x7fffffffu;
      SPECTR_UNROLL
      for (int h = 1; h < 32; h *= 2) {
        const u32 other = shuffle_xor(top, h);
        top = other > top ? other : top;
      }
      const float most = float_of(top);
      const bool nothing = most < 1e-30f;  // below that, the reciprocal could overflow
      const float reciprocal = nothing ? 0.0f : divide(127.0f, most);
      if (thread() % 32 == 0) *reinterpret_cast<float*>(scale) = nothing ? 0.0f : divide(most, 127.0f);
      // Adding 1.5 · 2²³ rounds to an integer, which is then in the low bits of the float.
      if (is_there) *number = static_cast<u8>(bits_of(add(mul(x, reciprocal), 12582912.0f)));
    } else if (is_there && type == 1) {
      *reinterpret_cast<std::uint16_t*>(number) = half_of(x);
    } else if (is_there) {
      *reinterpret_cast<float*>(number) = x;
    }
  }

  /// Returns the rotated dimension d of a head of row r.
  static SPECTR_DEVICE float rotated(const Rotate& p, const Matrix& heads, int head, int r, int d) {
    const int first = head * p.head.dim, i = d - p.first, half = p.dims / 2;
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
