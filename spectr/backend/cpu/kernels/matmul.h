#pragma once

#include <memory>
#include <span>

#include "spectr/backend/cpu/kernel_level.h"
#include "spectr/backend/cpu/kernels/matrix.h"
#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// The memory that matmul() works in. It grows as needed and should be reused between calls.
class MatmulScratch {
 public:
  MatmulScratch();
  ~MatmulScratch();
  /// Grows the scratch so that matmul() of matrices like w need not allocate, for up to `max_rows` rows of x
  /// in total, in at most `max_groups` groups.
  void reserve(const Matrix& w, std::size_t max_rows, std::size_t max_groups = 1);
  struct Run;
  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// y = x Wᵀ: y[r][i] = Σ_j W[i][j] x[r][j]. y: [n, rows of W].
struct Product {
  const Matrix& w;
  Span2d<float> y;
};

/// Computes products of one x, [n, cols], with one or more matrices, overwriting every y. Each W is
/// read from memory once, for any n. Row r of y depends, bit for bit, on W and row r of x alone:
/// neither on n, nor on the other products, nor on the threads. For quantized W, rows of x are first
/// quantized to 8 bits per block of 64 (once for consecutive matrices of one type); for BF16, they are
/// rounded to BF16.
void matmul(std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
            MatmulScratch& scratch);

/// Products that share an x.
struct ProductGroup {
  std::span<const Product> products;
  Span2d<const float> x;
};

/// Computes matmul() of each group, with the same bits, but the threads share the work of all groups and
/// synchronize as often as for one. A matrix should not be in two groups, because it would be read twice.
void matmul(std::span<const ProductGroup> groups, ThreadPool& pool, MatmulScratch& scratch);

/// Compute the same with the kernels of a given level. Requires: the machine supports it.
void matmul_at(KernelLevel level, std::span<const ProductGroup> groups, ThreadPool& pool,
               MatmulScratch& scratch);
void matmul_at(KernelLevel level, std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
               MatmulScratch& scratch);

}  // namespace spectr
