#pragma once

// Attention over chunks of 64 attended slots, planned by spectr/backend/device/attention_plan.h. Results of a
// row are bitwise independent of other rows and of the slots of its tokens:
//
//   chunk c:  score_i = Σ q_d k_i,d, ascending, fused;  M = max score;  w_i = e^(score_i − M)
//             L = Σ w_i as a tree;  O_d = Σ w_i v_i,d, ascending, fused
//   merged:   M = max M_c;  eight sums of e^(M_c − M) O_c,d and of e^(M_c − M) L_c, over chunks c ≡ s mod 8,
//             ascending, fused; each eight added as a tree, neighbours first; the result is their quotient
//
// The cache is a pool of blocks of 64 slots. In a block, each KV head of a layer has 256 D bytes: keys [D /
// 4][slot][4] and values [slot][D], both f16.

#include "spectr/backend/cuda/kernels/quantize.cuh"
#include "spectr/backend/device/attention_rows.h"

namespace spectr::cuda {

/// Converts a lane's two scores of a query, for slots `lane` and `lane` + 32, to weights. Writes the maximum
/// score and the sum of weights to `out`.
SPECTR_DEVICE void weigh(float (&score)[2], float cap, int present, bool stores, float* weights, float* out) {
  const int lane = thread() % 32;
  if (cap > 0) {
    score[0] = soft_cap(score[0], cap);
    score[1] = soft_cap(score[1], cap);
  }
  const float a = lane < present ? score[0] : -INFINITY, b = lane + 32 < present ? score[1] : -INFINITY;
  const float most = largest_of_lanes<32>(larger(a, b));
  const float v = exp_of_negative(sub(a, most)), w = exp_of_negative(sub(b, most));
  const float sum = sum_of_lanes<32>(add(v, w));
  if (!stores) return;
  weights[lane] = v;
  weights[lane + 32] = w;
  if (lane == 0) *reinterpret_cast<Two*>(out) = {most, sum};
}

/// Returns the partial result of a head's query for chunk c of a row; there are `numbers` numbers per query.
SPECTR_DEVICE const float* part_of(const Merge& p, const AttentionRow& row, int c, int head, int numbers) {
  const int rows = row.rows_of(c), group = p.heads / p.kv_heads;
  const int at =
      row.part_of(c) * p.heads + head / group * rows * group + row.place_of(c) * group + head % group;
  return p.parts + static_cast<long>(at) * numbers;
}

/// Computes partial results of items. Grid: (items, kv_heads). A warp processes `at_once` queries of its KV
/// head at a time; the results are bitwise independent of this number.
template <int dim, int warps, int at_once>
class AttendKernel {
  static constexpr int pairs = (dim / 2 + 31) / 32;  // pairs of value dimensions per lane
  static constexpr int per_slot = warps * 32 / 64;   // threads that gather a slot
  static_assert(per_slot > 0 && dim / 8 % per_slot == 0);

 public:
  static constexpr int threads = 32 * warps;
  static constexpr int head_bytes = 256 * dim;  // of a block's keys and values
  static constexpr int shared(int queries) { return head_bytes + queries * (dim + 64) * 4 + 16; }

  static SPECTR_DEVICE void run(const Attention& p) {
    const AttentionItem item = p.items[group_x()];
    if (item.rows == 0) return dependents();
    const int head = group_y(), group = p.heads / p.kv_heads, queries = item.rows * group;
    u8* const keys = shared_memory();
    float* const q = reinterpret_cast<float*>(keys + head_bytes);
    float* const weights = q + queries * dim;
    const u32 arrived = shared_address(weights + queries * 64);
    const u8* const layer = p.pool + p.layer + static_cast<long>(head) * head_bytes;
    const bool is_whole = item.block >= 0, fetches = is_whole && thread() == 0;
    const auto fetch = [&] {
      expect_bytes(arrived, head_bytes);
      copy_to_shared(shared_address(keys), layer + item.block * p.block_bytes, head_bytes, arrived);
    };
    PoolSlot slot = -1;
    if (fetches) {
      start_barrier(arrived, 1);
      publish_barriers();
      if (item.settled) fetch();
    } else if (!is_whole && thread() / per_slot < item.present) {
      slot = p.listed[item.list + thread() / per_slot];
    }
    dependents();
    predecessors();
    if (fetches && !item.settled) fetch();
    if (!is_whole) gather(layer, p.block_bytes, slot, keys);
    for (int k = 0; k < item.rows; ++k) {  // the queries of a row's heads are contiguous
      const Four* const from = reinterpret_cast<const Four*>(
          p.q + (static_cast<long>(item.row + k) * p.heads + head * group) * dim);
      for (int i = thread(); i < group * dim / 4; i += threads) {
        reinterpret_cast<Four*>(q)[k * group * dim / 4 + i] = load(from + i);
      }
    }
    group_barrier();
    if (is_whole) wait(arrived, 0);

    float* const parts = p.parts + (static_cast<long>(item.part) * p.heads + head * queries) * (dim + 4);
    for (int from = thread() / 32 * at_once; from < queries; from += warps * at_once) {
      const int n = queries - from < at_once ? queries - from : at_once;
      float score[at_once][2];
      scores(keys, q + from * dim, n, score);
      SPECTR_UNROLL
      for (int i = 0; i < at_once; ++i) {
        weigh(score[i], p.cap, item.present, i < n, weights + (from + i) * 64,
              parts + (from + i) * (dim + 4) + dim);
      }
      warp_barrier();
      sum_values(keys + 128 * dim, weights + from * 64, n, parts + from * (dim + 4));
    }
  }

 private:
  /// Gathers the keys and values of a listed slot, or zeros. All loads are issued before the first use.
  static SPECTR_DEVICE void gather(const u8* layer, long block_bytes, PoolSlot slot, u8* keys) {
    constexpr int quads = dim / 4 / per_slot, lines = dim / 8 / per_slot;
    const int i = thread() / per_slot, which = thread() % per_slot;
    const u8* const block = layer + slot / 64 * block_bytes;
    TwoWords k[quads] = {};
    Four v[lines] = {};
    if (slot >= 0) {
      SPECTR_UNROLL
      for (int j = 0; j < quads; ++j) {
        k[j] = load(reinterpret_cast<const TwoWords*>(block) + (which * quads + j) * 64 + slot % 64);
      }
      SPECTR_UNROLL
      for (int j = 0; j < lines; ++j) {
        v[j] =
            load(reinterpret_cast<const Four*>(block + 128 * dim + slot % 64 * dim * 2) + which * lines + j);
      }
    }
    SPECTR_UNROLL
    for (int j = 0; j < quads; ++j) reinterpret_cast<TwoWords*>(keys)[(which * quads + j) * 64 + i] = k[j];
    SPECTR_UNROLL
    for (int j = 0; j < lines; ++j) {
      reinterpret_cast<Four*>(keys + 128 * dim + i * dim * 2)[which * lines + j] = v[j];
    }
  }

  /// Computes a lane's scores of n queries, with slots `lane` and `lane` + 32 of the chunk.
  static SPECTR_DEVICE void scores(const u8* keys, const float* q, int n, float (&score)[at_once][2]) {
    const int lane = thread() % 32;
    SPECTR_UNROLL
    for (int i = 0; i < at_once; ++i) score[i][0] = score[i][1] = 0;
    SPECTR_UNROLL_BY(8)
    for (int d = 0; d < dim / 4; ++d) {
      float k[2][4];
      SPECTR_UNROLL
      for (int s = 0; s < 2; ++s) {
        const TwoWords halves = reinterpret_cast<const TwoWords*>(keys)[d * 64 + lane + 32 * s];
        k[s][0] = low_half(halves.x);
        k[s][1] = high_half(halves.x);
        k[s][2] = low_half(halves.y);
        k[s][3] = high_half(halves.y);
      }
      SPECTR_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const Four x = reinterpret_cast<const Four*>(q + (i < n ? i : 0) * dim)[d];
        SPECTR_UNROLL
        for (int s = 0; s < 2; ++s) {
          score[i][s] = fma(x.x, k[s][0], score[i][s]);
          score[i][s] = fma(x.y, k[s][1], score[i][s]);
          score[i][s] = fma(x.z, k[s][2], score[i][s]);
          score[i][s] = fma(x.w, k[s][3], score[i][s]);
        }
      }
    }
  }

  static SPECTR_DEVICE void sum_values(const u8* values, const float* weights, int n, float* parts) {
    const int lane = thread() % 32;
    Two o[at_once][pairs] = {};
    SPECTR_UNROLL_BY(4)
    for (int s = 0; s < 64; s += 4) {
      Four w[at_once];
      SPECTR_UNROLL
      for (int i = 0; i < at_once; ++i)
        w[i] = *reinterpret_cast<const Four*>(weights + (i < n ? i : 0) * 64 + s);
      SPECTR_UNROLL
      for (int j = 0; j < 4; ++j) {
        SPECTR_UNROLL
        for (int k = 0; k < pairs; ++k) {
          const int pair = lane + 32 * k;
          const u32 v =
              pair < dim / 2 ? *reinterpret_cast<const u32*>(values + ((s + j) * dim + 2 * pair) * 2) : 0;
          const float low = low_half(v), high = high_half(v);
          SPECTR_UNROLL
          for (int i = 0; i < at_once; ++i) {
            const float weight = j == 0 ? w[i].x : j == 1 ? w[i].y : j == 2 ? w[i].z : w[i].w;
            o[i][k] = {fma(weight, low, o[i][k].x), fma(weight, high, o[i][k].y)};
          }
        }
      }
    }
    SPECTR_UNROLL
    for (int i = 0; i < at_once; ++i) {
      SPECTR_UNROLL
      for (int k = 0; k < pairs; ++k) {
        const int pair = lane + 32 * k;
        if (i < n && pair < dim / 2) *reinterpret_cast<Two*>(parts + i * (dim + 4) + 2 * pair) = o[i][k];
      }
    }
  }
};

/// Merges a row's chunks into its heads and quantizes them. A block of eight warps has 128 columns of a row,
/// four per lane; warp s has the chunks c ≡ s mod 8. Grid: (n, heads · dim / 128).
template <int dim>
class MergeKernel {
  static constexpr int warps = 8, at_once = 4;  // chunks that a warp keeps in registers

 public:
  static constexpr int threads = 32 * warps;

  static SPECTR_DEVICE void run(const Merge& p) {
    SPECTR_SHARED float largest[warps][32];
    SPECTR_SHARED float sums[warps][32];
    SPECTR_SHARED Four values[warps][32];
    const AttentionRow row = p.rows[group_x()];
    const int warp = thread() / 32, lane = thread() % 32, column = 128 * group_y() + 4 * lane,
              width = p.heads * dim;
    const int head = column < width ? column / dim : 0, d = column % dim;
    dependents();
    predecessors();
    const auto part = [&](int c) { return part_of(p, row, c, head, dim + 4); };
    Two of[at_once];
    Four o[at_once];
    const auto fetch = [&](int from) {  // issue all loads before the first use
      SPECTR_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int c = from + warps * i;
        of[i] = {-INFINITY, 0};
        o[i] = {};
        if (c < row.chunks) {
          of[i] = load(reinterpret_cast<const Two*>(part(c) + dim));
          o[i] = load(reinterpret_cast<const Four*>(part(c) + d));
        }
      }
    };
    fetch(warp);
    float most = larger(larger(of[0].x, of[1].x), larger(of[2].x, of[3].x));
    for (int c = warp + warps * at_once; c < row.chunks; c += warps) most = larger(most, load(part(c) + dim));
    largest[warp][lane] = most;
    group_barrier();
    SPECTR_UNROLL
    for (int s = 0; s < warps; ++s) most = larger(most, largest[s][lane]);
    const bool has_sink = p.sinks != nullptr;
    const float sink = has_sink ? p.sinks[head] : -INFINITY;
    most = larger(most, sink);
    float sum = 0;
    Four out{};
    for (int from = warp; from < row.chunks; from += warps * at_once) {
      if (from != warp) fetch(from);
      SPECTR_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const float factor = exp_of_negative(sub(of[i].x, most));  // 0 if there is no chunk
        sum = fma(factor, of[i].y, sum);
        out = {fma(factor, o[i].x, out.x), fma(factor, o[i].y, out.y), fma(factor, o[i].z, out.z),
               fma(factor, o[i].w, out.w)};
      }
    }
    sums[warp][lane] = sum;
    values[warp][lane] = out;
    group_barrier();
    if (warp > 0) return;
    float sum_of[warps];
    Four value_of[warps];
    SPECTR_UNROLL
    for (int s = 0; s < warps; ++s) {
      sum_of[s] = sums[s][lane];
      value_of[s] = values[s][lane];
    }
    SPECTR_UNROLL
    for (int h = 1; h < warps; h *= 2) {
      SPECTR_UNROLL
      for (int s = 0; s < warps; s += 2 * h) {
        sum_of[s] = add(sum_of[s], sum_of[s + h]);
        value_of[s] = sum_of_fours(value_of[s], value_of[s + h]);
      }
    }
    if (has_sink) sum_of[0] = add(sum_of[0], exp_of_negative(sub(sink, most)));
    const float factor = divide(1.0f, sum_of[0]);
    Four x{};
    if (column < width) {
      x = {mul(value_of[0].x, factor), mul(value_of[0].y, factor), mul(value_of[0].z, factor),
           mul(value_of[0].w, factor)};
    }
    if (p.y != nullptr && column < width) {
      *reinterpret_cast<Four*>(p.y + group_x() * p.stride + column) = x;
    }
    if (p.out.codes != nullptr) quantize_four(x, group_x(), column, column < whole_blocks(width), p.out);
  }
};

}  // namespace spectr::cuda
