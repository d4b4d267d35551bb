#pragma once

// Elementwise kernels. A thread has four columns of a row, and a block of 128 threads has 512 columns. Grid:
// (rows, columns / 512).

#include "spectr/backend/cuda/kernels/quantize.cuh"
#include "spectr/backend/device/attention_rows.h"

namespace spectr::cuda {

SPECTR_DEVICE float* row_of(const Matrix& matrix, int r) {
  return matrix.at + r * matrix.stride;
}

/// Loads four numbers from p on; those past the first `left` are 0.
SPECTR_DEVICE Four load_four(const float* p, int left) {
  if (left >= 4 && reinterpret_cast<std::uintptr_t>(p) % 16 == 0)
    return load(reinterpret_cast<const Four*>(p));
  return {left > 0 ? load(p) : 0.0f, left > 1 ? load(p + 1) : 0.0f, left > 2 ? load(p + 2) : 0.0f,
          left > 3 ? load(p + 3) : 0.0f};
}
SPECTR_DEVICE void store_four(float* p, int left, Four v) {
  if (left >= 4 && reinterpret_cast<std::uintptr_t>(p) % 16 == 0) {
    *reinterpret_cast<Four*>(p) = v;
    return;
  }
  if (left > 0) p[0] = v.x;
  if (left > 1) p[1] = v.y;
  if (left > 2) p[2] = v.z;
  if (left > 3) p[3] = v.w;
}

/// Loads four columns of row r from `column` on, of which `left` exist, and sums the split-K parts.
SPECTR_DEVICE Four four_of(const Matrix& matrix, int r, long column, int left) {
  const float* const at = row_of(matrix, r) + column;
  const Four first = load_four(at, left);
  if (matrix.parts == 1) return first;
  const Four second = load_four(at + matrix.part_stride, left);
  if (matrix.parts == 2) return sum_of_fours(first, second);
  const Four third = load_four(at + 2 * matrix.part_stride, left),
             fourth = load_four(at + 3 * matrix.part_stride, left);
  return sum_of_fours(sum_of_fours(first, second), sum_of_fours(third, fourth));
}
/// Loads one number and sums its split-K parts.
SPECTR_DEVICE float number_of(const Matrix& matrix, int r, long column) {
  const float* const at = row_of(matrix, r) + column;
  const float first = load(at);
  if (matrix.parts == 1) return first;
  const float second = load(at + matrix.part_stride);
  if (matrix.parts == 2) return add(first, second);
  return add(add(first, second), add(load(at + 2 * matrix.part_stride), load(at + 3 * matrix.part_stride)));
}

/// Calls each(column) for the thread's columns.
template <class Each>
SPECTR_DEVICE void for_my_columns(int cols, Each each) {
  const int first = 4 * (group_y() * 128 + thread());
  SPECTR_UNROLL
  for (int j = first; j < first + 4; ++j) {
    if (j < cols) each(j);
  }
}

struct CopyKernel {
  static SPECTR_DEVICE void run(const Copy& p) {
    dependents();
    predecessors();
    float* const to = row_of(p.to, group_x());
    const float* const from = row_of(p.from, group_x());
    for_my_columns(p.heads * p.cols, [&](int j) {
      const int head = j / p.cols, column = j % p.cols;
      to[head * p.to_head_stride + column] = load(from + head * p.from_head_stride + column);
    });
  }
};

struct AddKernel {
  static SPECTR_DEVICE void run(const Add& p) {
    dependents();
    predecessors();
    float* const to = row_of(p.to, group_x());
    const float* const from = row_of(p.from, group_x());
    for_my_columns(p.cols, [&](int j) { to[j] = add(load(to + j), load(from + j)); });
  }
};

struct ScaleKernel {
  static SPECTR_DEVICE void run(const Scale& p) {
    dependents();
    predecessors();
    float* const x = row_of(p.x, group_x());
    for_my_columns(p.cols, [&](int j) { x[j] = mul(load(x + j), p.factor); });
  }
};

struct CapKernel {
  static SPECTR_DEVICE void run(const Cap& p) {
    dependents();
    predecessors();
    float* const x = row_of(p.x, group_x());
    for_my_columns(p.cols, [&](int j) { x[j] = soft_cap(load(x + j), p.cap); });
  }
};

struct GateKernel {
  static SPECTR_DEVICE void run(const Gate& p) {
    dependents();
    predecessors();
    float* const x = row_of(p.x, group_x());
    const float* const by = row_of(p.by, group_x());
    for_my_columns(p.cols,
                   [&](int j) { x[j] = mul(load(x + j), sigmoid(load(by + (p.gates == 1 ? 0 : j)))); });
  }
};

struct QuantizeKernel {
  static SPECTR_DEVICE void run(const Quantize& p, int group = group_y()) {
    dependents();
    predecessors();
    const float* const in = row_of(p.in, group_x());
    const int first = 4 * (group * 128 + thread());
    float x[4];
    SPECTR_UNROLL
    for (int j = 0; j < 4; ++j) x[j] = first + j < p.cols ? load(in + first + j) : 0.0f;
    quantize_four({x[0], x[1], x[2], x[3]}, group_x(), first, first < whole_blocks(p.cols), p.out);
  }
};

struct ActivateKernel {
  static SPECTR_DEVICE float activated(int kind, float clamp, float gate, float up) {
    if (kind == 0) return mul(silu(gate), up);
    if (kind == 1) return mul(gelu(gate), up);
    if (kind == 2) return mul(gate < 0 ? 0.0f : gate, up);
    const float g = gate > clamp ? clamp : gate, u = up > clamp ? clamp : up < -clamp ? -clamp : up;
    return mul(mul(g, sigmoid(mul(1.702f, g))), add(u, 1.0f));
  }

  static SPECTR_DEVICE void run(const Activate& p) {
    dependents();
    predecessors();
    const int r = group_x(), first = 4 * (group_y() * 128 + thread()), left = p.cols - first;
    const Four up = four_of(p.up, r, first, left);
    Four x = up, by = {1, 1, 1, 1};
    if (p.has_gate) {
      x = four_of(p.gate, r, first, left);
      by = up;
    }
    x = {activated(p.kind, p.clamp, x.x, by.x), activated(p.kind, p.clamp, x.y, by.y),
         activated(p.kind, p.clamp, x.z, by.z), activated(p.kind, p.clamp, x.w, by.w)};
    x = {left > 0 ? x.x : 0.0f, left > 1 ? x.y : 0.0f, left > 2 ? x.z : 0.0f, left > 3 ? x.w : 0.0f};
    store_four(row_of(p.out, r) + first, left, x);
    if (p.quantized.codes == nullptr) return;
    quantize_four(x, r, first, first < whole_blocks(p.cols), p.quantized);
  }
};

struct MoveKernel {
  static SPECTR_DEVICE void run(const Move& p) {
    dependents();
    predecessors();
    const int i = group_x() * 128 + thread();
    if (i >= p.line_count) return;
    const MoveLine line = p.lines[i];
    const auto place = [&](PoolSlot slot) {
      const long word = line.base + static_cast<long>(slot % 64) * line.stride;
      return reinterpret_cast<u32*>(p.pool + slot / 64 * p.block_bytes) + word;
    };
    for (int m = 0; m < *p.count; ++m) *place(p.moves[2 * m + 1]) = load(place(p.moves[2 * m]));
  }
};

}  // namespace spectr::cuda
