#pragma once

// Expands shortlist logits to the vocabulary, and computes logits of single extra tokens.

#include "spectr/backend/cuda/kernels/float_product.cuh"

namespace spectr::cuda {

struct SpreadKernel {
  static SPECTR_DEVICE void run(const Spread& p) {
    dependents();
    predecessors();
    const float* const some = row_of(p.some, group_x());
    float* const out = row_of(p.out, group_x());
    for_my_columns(p.cols, [&](int j) { out[j] = p.columns[j] < 0 ? -INFINITY : load(some + p.columns[j]); });
  }
};

/// Uses a warp per extra token. Grid: (words / 4).
struct ExtraTokenLogitsKernel {
  static constexpr int threads = 128;

  static SPECTR_DEVICE void run(const ExtraTokenLogits& p) {
    dependents();
    predecessors();
    const ExtraToken word = p.words[group_x() * 4 + thread() / 32];
    if (word.token < 0) return;  // exits as a whole warp
    const float* const weights = row_of(p.weights, word.place);
    const float y = product_of_lanes(row_of(p.x, word.row), p.cols, [&](int j) { return weights[j]; });
    const float logit = mul(add(y, weights[p.cols]), p.scale);
    if (thread() % 32 == 0) row_of(p.out, word.row)[word.token] = p.cap > 0 ? soft_cap(logit, p.cap) : logit;
  }
};

}  // namespace spectr::cuda
