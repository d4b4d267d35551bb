#pragma once

// Reductions over rows of logits, by segments of 1024. Grid: (segments, rows).

#include "spectr/backend/cuda/kernels/elementwise.cuh"

namespace spectr::cuda {

inline constexpr int segment = 1024;

struct TopKernel {
  static constexpr int threads = 512;

  static SPECTR_DEVICE void run(const Top& p) {
    SPECTR_SHARED Best best[segment];
    dependents();
    predecessors();
    const float* const row = row_of(p.x, group_y());
    const int first = group_x() * segment;
    for (int i = thread(); i < segment; i += threads) {
      best[i] = {0, -1};
      if (first + i < p.size) best[i] = {load(row + first + i), first + i};
    }
    for (int size = 2; size <= segment; size *= 2) {  // bitonic sort
      for (int step = size / 2; step > 0; step /= 2) {
        group_barrier();
        const int i = 2 * step * (thread() / step) + thread() % step, j = i + step;
        const bool ascends = (i & size) == 0;
        const Best a = best[i], b = best[j];
        if (is_before(b, a) == ascends) {
          best[i] = b;
          best[j] = a;
        }
      }
    }
    group_barrier();
    Best* const out = p.out + (static_cast<long>(group_y()) * groups_x() + group_x()) * p.k;
    for (int i = thread(); i < p.k; i += threads) out[i] = best[i];
  }

 private:
  static SPECTR_DEVICE float key(float x) { return x < INFINITY ? x : INFINITY; }
  static SPECTR_DEVICE bool is_before(Best a, Best b) {
    if (a.token < 0 || b.token < 0) return b.token < 0 && a.token >= 0;
    const float x = key(a.logit), y = key(b.logit);
    return x != y ? x > y : a.token < b.token;
  }
};

struct SumExpKernel {
  static constexpr int threads = 512;

  static SPECTR_DEVICE void run(const SumExp& p) {
    SPECTR_SHARED float numbers[threads / 32];
    dependents();
    predecessors();
    const float* const row = row_of(p.x, group_y());
    const int i = group_x() * segment + 2 * thread();
    const float a = i < p.size ? load(row + i) : -INFINITY,
                b = i + 1 < p.size ? load(row + i + 1) : -INFINITY;
    float most = largest_of_lanes<32>(larger(a, b));
    if (thread() % 32 == 0) numbers[thread() / 32] = most;
    group_barrier();
    most = largest_of_lanes<16>(numbers[thread() % 16]);
    group_barrier();
    float sum = sum_of_lanes<32>(add(term(p, a, most), term(p, b, most)));
    if (thread() % 32 == 0) numbers[thread() / 32] = sum;
    group_barrier();
    sum = sum_of_lanes<16>(numbers[thread() % 16]);
    if (thread() == 0) reinterpret_cast<Two*>(p.out)[group_y() * groups_x() + group_x()] = {most, sum};
  }

 private:
  static SPECTR_DEVICE float term(const SumExp& p, float x, float most) {
    return x == -INFINITY ? 0.0f : exp_of_negative(mul(p.factor, sub(x, most)));
  }
};

}  // namespace spectr::cuda
