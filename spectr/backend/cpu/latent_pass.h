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

/// The per-head matrices of latent attention (LatentSpec). The products of all heads are computed
/// together.
class LatentPass {
 public:
  /// All arguments must outlive it.
  LatentPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Reserves memory for `rows` rows, also in the scratch. Requires: the weights were uploaded. Throws
  /// std::bad_alloc, without effect.
  void reserve(std::size_t rows, MatmulScratch& scratch);

  /// Computes each head of `query` [rank + rotated dims] from that of `in` [q_dim + rotated dims].
  void queries(const AttentionSpec& spec, Span2d<const float> in, Span2d<float> query,
               MatmulScratch& scratch);
  /// Computes each head of `out` [value_dim] from the first `rank` numbers of that of `attended`.
  void values(const AttentionSpec& spec, Span2d<const float> attended, Span2d<float> out,
              MatmulScratch& scratch);

 private:
  /// Computes, for each row and head h, the first numbers of y's head as W_h times the first numbers of x's
  /// head. `x_stride` and `y_stride` are the heads' strides in numbers.
  void multiply(const std::vector<LinearSpec>& heads, Span2d<const float> x, std::size_t x_stride,
                Span2d<float> y, std::size_t y_stride, MatmulScratch& scratch);

  const ModelSpec& spec_;
  const CpuWeights& weights_;
  ThreadPool& pool_;
  std::size_t max_in_ = 0, max_out_ = 0, max_heads_ = 0;  // maximum numbers per row over all heads, and heads
  std::unique_ptr<float[]> inputs_, outputs_;             // [head][row]
  std::vector<Product> products_;
  std::vector<ProductGroup> groups_;
};

}  // namespace spectr
