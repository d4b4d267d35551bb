#pragma once

#include <memory>
#include <span>

#include "spectr/backend/cpu/kernel_level.h"
#include "spectr/backend/cpu/kernels/matrix.h"
#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// The memory that matmul() works in. It grows as needed, and is to be reused between calls.
class MatmulScratch {
 public:
  MatmulScratch();
  ~MatmulScratch();
  /// Grows now, so that no matmul() of matrices like w has to: with up to `max_rows` rows of x in all, in at
  /// most so many groups.
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

/// Products of one x with one or more matrices; every W is read from memory once, whatever the rows of x.
/// x: [n, cols], every y is overwritten. Row r of y depends on W and row r of x alone, bit for bit: neither
/// on n, nor on the other products, nor on the threads. For quantized W the rows of x are quantized to 8 bits
/// per block of 64 first (once for matrices of one type that follow each other), for BF16 they are rounded to
/// BF16.
void matmul(std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
            MatmulScratch& scratch);

/// Products of an x of their own.
struct ProductGroup {
  std::span<const Product> products;
  Span2d<const float> x;
};

/// matmul() of each group, with the same bits; but the threads share the work of all of them, and meet as
/// often as for one. No matrix should be in two groups: it would be read twice.
void matmul(std::span<const ProductGroup> groups, ThreadPool& pool, MatmulScratch& scratch);

/// The same at a level of the caller's choice. Requires: the machine has it.
void matmul_at(KernelLevel level, std::span<const ProductGroup> groups, ThreadPool& pool,
               MatmulScratch& scratch);
void matmul_at(KernelLevel level, std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
               MatmulScratch& scratch);

}  // namespace spectr
