#pragma once

// Attention for any head size and any KV types: the fallback of attention.cuh. It computes the same sums, so
// it is bitwise equal where both apply.

#include "spectr/backend/cuda/kernels/attention.cuh"
#include "spectr/backend/device/head_layout.h"

namespace spectr::cuda {

/// Loads four consecutive numbers of a key or a value as f32.
SPECTR_DEVICE Four cached_four(int type, const u8* numbers, const u8* scale) {
  if (type == 0) return load(reinterpret_cast<const Four*>(numbers));
  if (type == 1) {
    const TwoWords halves = load(reinterpret_cast<const TwoWords*>(numbers));
    return {low_half(halves.x), high_half(halves.x), low_half(halves.y), high_half(halves.y)};
  }
  const u32 quants = load(reinterpret_cast<const u32*>(numbers));
  const float s = load(reinterpret_cast<const float*>(scale));
  const auto number = [&](int i) {
    return mul(s, static_cast<float>(static_cast<signed char>(quants >> 8 * i & 255)));
  };
  return {number(0), number(1), number(2), number(3)};
}

/// Computes partial results of items. Grid: (items, kv_heads · groups of sixteen queries). Keys, then values
/// are staged in shared memory as f32, 32 dimensions of all slots at a time, for all queries of the block.
/// For scores, a thread has one slot and every other query; for values, one dimension and every fourth query.
class AnyAttendKernel {
  static constexpr int cols = 32, fours = 4;  // dimensions per tile, and groups of four that a thread loads

 public:
  static constexpr int threads = 128, queries = 16;

  static SPECTR_DEVICE void run(const AnyAttention& p) {
    SPECTR_SHARED float tile[64][cols + 1];
    SPECTR_SHARED float q[queries][cols];
    SPECTR_SHARED float weights[queries][64];
    SPECTR_SHARED Slots slots;
    const AttentionItem item = p.of.items[group_x()];
    const int head = group_y() / p.query_groups, first = group_y() % p.query_groups * queries;
    const int group = p.of.heads / p.of.kv_heads, n = item.rows * group - first;
    if (n <= 0) return dependents();
    find_slots(p, item, head, slots);
    dependents();
    predecessors();
    const auto query = [&](int i) {  // the queries of a row's heads are contiguous
      const long row = item.row + (first + i) / group;
      return p.of.q + (row * p.of.heads + head * group + (first + i) % group) * p.head.dim;
    };
    const int mine = n < queries ? n : queries, numbers = p.head.value_numbers() + 4;
    float* const parts =
        p.of.parts + (static_cast<long>(item.part) * p.of.heads + head * item.rows * group + first) * numbers;
    group_barrier();
    scores(p, slots, query, mine, tile, q, weights);
    group_barrier();
    for (int i = thread() / 32; i < mine; i += threads / 32) {
      const int lane = thread() % 32;
      float score[2] = {weights[i][lane], weights[i][lane + 32]};
      weigh(score, p.of.cap, item.present, true, weights[i], parts + i * numbers + numbers - 4);
    }
    sum_values(p.head, p.of.pool, slots, mine, tile, weights, parts);
  }

 private:
  /// For each slot of the chunk: the pool offset of its block's head, and its index in the block; −1: there
  /// is no such slot.
  struct Slots {
    long blocks[64];
    int places[64];
  };

  static SPECTR_DEVICE void find_slots(const AnyAttention& p, const AttentionItem& item, int head,
                                       Slots& slots) {
    const int i = thread();
    if (i >= 64) return;
    PoolSlot slot = -1;
    if (i < item.present) slot = item.block >= 0 ? item.block * 64 + i : p.of.listed[item.list + i];
    slots.places[i] = slot < 0 ? -1 : slot % 64;
    slots.blocks[i] = slot / 64 * p.of.block_bytes + p.of.layer + static_cast<long>(head) * p.head.bytes;
  }

  /// Calls each(first) with every tile of dimensions of [0, dim) in shared memory. `four(slot, d)` loads
  /// numbers; loads overlap with the previous tile's use. If `along`, neighbouring threads load neighbouring
  /// slots, otherwise neighbouring dimensions.
  template <class FourOf, class Each>
  static SPECTR_DEVICE void for_tiles(int dim, bool along, const Slots& slots, float (&tile)[64][cols + 1],
                                      FourOf four, Each each) {
    const auto slot_of = [&](int k) {
      const int i = thread() + threads * k;
      return along ? i % 64 : i / 8;
    };
    const auto column_of = [&](int k) {
      const int i = thread() + threads * k;
      return 4 * (along ? i / 64 : i % 8);
    };
    Four next[fours];
    const auto fetch = [&](int from) {
      SPECTR_UNROLL
      for (int k = 0; k < fours; ++k) {
        const int slot = slot_of(k), d = from + column_of(k);
        next[k] = {};
        if (slots.places[slot] >= 0 && d < dim) next[k] = four(slot, d);
      }
    };
    fetch(0);
    for (int from = 0; from < dim; from += cols) {
      group_barrier();  // the previous tile may still be in use
      SPECTR_UNROLL
      for (int k = 0; k < fours; ++k) {
        float* const to = &tile[slot_of(k)][column_of(k)];
        to[0] = next[k].x;
        to[1] = next[k].y;
        to[2] = next[k].z;
        to[3] = next[k].w;
      }
      group_barrier();
      if (from + cols < dim) fetch(from + cols);
      each(from);
    }
  }

  /// Writes the scores of all queries with all slots to `weights`.
  template <class Query>
  static SPECTR_DEVICE void scores(const AnyAttention& p, const Slots& slots, Query query, int n,
                                   float (&tile)[64][cols + 1], float (&q)[queries][cols],
                                   float (&weights)[queries][64]) {
    constexpr int teams = threads / 64, most = queries / teams;
    const int slot = thread() % 64, team = thread() / 64;
    float score[most] = {};
    const auto four = [&](int i, int d) {
      const u8* const block = p.of.pool + slots.blocks[i];
      const int place = slots.places[i];
      return cached_four(p.head.key_type, block + p.head.key(place, d), block + p.head.key_scale(place, d));
    };
    const auto add_tile = [&](int from) {
      const int end = p.head.dim - from < cols ? p.head.dim - from : cols;
      for (int i = thread(); i < n * cols; i += threads) {
        if (i % cols < end) q[i / cols][i % cols] = load(query(i / cols) + from + i % cols);
      }
      group_barrier();
      SPECTR_UNROLL_BY(4)
      for (int d = 0; d < end; ++d) {
        const float k = tile[slot][d];
        SPECTR_UNROLL
        for (int i = 0; i < most; ++i) {
          if (team + teams * i < n) score[i] = fma(q[team + teams * i][d], k, score[i]);
        }
      }
    };
    for_tiles(p.head.dim, true, slots, tile, four, add_tile);
    SPECTR_UNROLL
    for (int i = 0; i < most; ++i) {
      if (team + teams * i < n) weights[team + teams * i][slot] = score[i];
    }
  }

  static SPECTR_DEVICE void sum_values(const HeadLayout& head, const u8* pool, const Slots& slots, int n,
                                       float (&tile)[64][cols + 1], const float (&weights)[queries][64],
                                       float* parts) {
    constexpr int teams = threads / 32, most = queries / teams;
    const int column = thread() % 32, team = thread() / 32;
    const auto four = [&](int i, int d) {
      const u8* const block = pool + slots.blocks[i];
      const int place = slots.places[i];
      return cached_four(head.value_type, block + head.value(place, d), block + head.value_scale(place, d));
    };
    const auto sum_tile = [&](int from) {
      float sum[most] = {};
      SPECTR_UNROLL_BY(4)
      for (int s = 0; s < 64; ++s) {
        const float v = tile[s][column];
        SPECTR_UNROLL
        for (int i = 0; i < most; ++i) {
          if (team + teams * i < n) sum[i] = fma(weights[team + teams * i][s], v, sum[i]);
        }
      }
      if (from + column >= head.value_dim) return;
      SPECTR_UNROLL
      for (int i = 0; i < most; ++i) {
        const int at = team + teams * i;
        if (at < n) parts[at * (head.value_numbers() + 4) + from + column] = sum[i];
      }
    };
    for_tiles(head.value_dim, head.keys_have_values, slots, tile, four, sum_tile);
  }
};

/// Like MergeKernel, but a lane's four columns may belong to different heads. Grid: (n, heads · dim / 128).
class AnyMergeKernel {
  static constexpr int warps = 8, columns = 4;

 public:
  static constexpr int threads = 32 * warps;

  static SPECTR_DEVICE void run(const AnyMerge& p) {
    SPECTR_SHARED float largest[warps][128];
    SPECTR_SHARED float sums[warps][128];
    SPECTR_SHARED float values[warps][128];
    const AttentionRow row = p.of.rows[group_x()];
    const int warp = thread() / 32, lane = thread() % 32, first = 128 * group_y() + columns * lane;
    const int width = p.of.heads * p.dim, numbers = (p.dim + 3) / 4 * 4 + 4;
    dependents();
    predecessors();
    int heads[columns];
    float most[columns], sum[columns] = {}, value[columns] = {};
    SPECTR_UNROLL
    for (int i = 0; i < columns; ++i) {
      heads[i] = first + i < width ? (first + i) / p.dim : 0;
      most[i] = -INFINITY;
      for (int c = warp; c < row.chunks; c += warps)
        most[i] = larger(most[i], load(part_of(p.of, row, c, heads[i], numbers) + numbers - 4));
      largest[warp][columns * lane + i] = most[i];
    }
    group_barrier();
    SPECTR_UNROLL
    for (int i = 0; i < columns; ++i) {
      for (int s = 0; s < warps; ++s) most[i] = larger(most[i], largest[s][columns * lane + i]);
      if (p.of.sinks != nullptr) most[i] = larger(most[i], p.of.sinks[heads[i]]);
    }
    for (int c = warp; c < row.chunks; c += warps) {
      SPECTR_UNROLL
      for (int i = 0; i < columns; ++i) {
        const float* const part = part_of(p.of, row, c, heads[i], numbers);
        const Two of = load(reinterpret_cast<const Two*>(part + numbers - 4));
        const float factor = exp_of_negative(sub(of.x, most[i]));
        sum[i] = fma(factor, of.y, sum[i]);
        value[i] = fma(factor, load(part + (first + i) % p.dim), value[i]);
      }
    }
    SPECTR_UNROLL
    for (int i = 0; i < columns; ++i) {
      sums[warp][columns * lane + i] = sum[i];
      values[warp][columns * lane + i] = value[i];
    }
    group_barrier();
    if (warp > 0) return;
    float x[columns];
    SPECTR_UNROLL
    for (int i = 0; i < columns; ++i) {
      float all = tree(sums, columns * lane + i);
      if (p.of.sinks != nullptr) all = add(all, exp_of_negative(sub(p.of.sinks[heads[i]], most[i])));
      x[i] = first + i < width ? mul(tree(values, columns * lane + i), divide(1.0f, all)) : 0.0f;
      if (first + i < width && p.of.y != nullptr) p.of.y[group_x() * p.of.stride + first + i] = x[i];
    }
    if (p.of.out.codes == nullptr) return;
    quantize_four({x[0], x[1], x[2], x[3]}, group_x(), first, first < whole_blocks(width), p.of.out);
  }

 private:
  /// Returns the pairwise sum of a column over the warps.
  static SPECTR_DEVICE float tree(const float (&numbers)[warps][128], int column) {
    float sum[warps];
    SPECTR_UNROLL
    for (int s = 0; s < warps; ++s) sum[s] = numbers[s][column];
    SPECTR_UNROLL
    for (int h = 1; h < warps; h *= 2) {
      SPECTR_UNROLL
      for (int s = 0; s < warps; s += 2 * h) sum[s] = add(sum[s], sum[s + h]);
    }
    return sum[0];
  }
};

}  // namespace spectr::cuda
