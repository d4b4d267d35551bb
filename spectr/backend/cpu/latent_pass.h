#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/cpu/cpu_weights.h"
#include "spectr/backend/cpu/kernels/matmul.h"
#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// The matrices that each head of latent attention has of its own (LatentSpec): products of all heads at
/// once.
class LatentPass {
 public:
  /// All must outlive it.
  LatentPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Memory for so many rows, also in the scratch. Requires: the weights were uploaded. Throws
  /// std::bad_alloc; what there was for fewer rows is as before then.
  void reserve(std::size_t rows, MatmulScratch& scratch);

  /// Each head of `query` [rank and rotated dimensions] from one of `in` [q_dim and rotated dimensions].
  void queries(const AttentionSpec& spec, Span2d<const float> in, Span2d<float> query,
               MatmulScratch& scratch);
  /// Each head of `out` [value_dim] from one of `attended`, whose first `rank` numbers it reads.
  void values(const AttentionSpec& spec, Span2d<const float> attended, Span2d<float> out,
              MatmulScratch& scratch);

 private:
  /// y[r]'s head h begins with W_h (the beginning of x[r]'s head h), as many numbers as W_h has rows and
  /// columns. `x_apart`, `y_apart`: of heads.
  void multiply(const std::vector<LinearSpec>& heads, Span2d<const float> x, std::size_t x_apart,
                Span2d<float> y, std::size_t y_apart, MatmulScratch& scratch);

  const ModelSpec& spec_;
  const CpuWeights& weights_;
  ThreadPool& pool_;
  std::size_t max_in_ = 0, max_out_ = 0, max_heads_ = 0;  // numbers of all heads of a row, and heads
  std::unique_ptr<float[]> inputs_, outputs_;             // by head, then row
  std::vector<Product> products_;
  std::vector<ProductGroup> groups_;
};

}  // namespace spectr
