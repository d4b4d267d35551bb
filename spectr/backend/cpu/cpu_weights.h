#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "spectr/backend/cpu/kernels/aligned_bytes.h"
#include "spectr/backend/cpu/kernels/matmul.h"
#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// The weights of a norm, in the form that kernels take.
struct NormNumbers {
  std::span<const float> weight, bias;
  float epsilon;
};

/// Computes out = norm(x) for a kind of norm. `out` may alias x.
void normalize(NormSpec::Kind kind, const NormNumbers& norm, std::span<const float> x, std::span<float> out);

/// A model's weights on the CPU: quantized matrices are repacked, other matrices keep the file's layout, and
/// vectors are f32.
class CpuWeights {
 public:
  /// Both arguments must outlive it.
  CpuWeights(const ModelSpec& spec, ThreadPool& pool);

  /// See Ops::upload.
  bool upload(WeightId id, std::span<const std::byte> bytes);
  std::size_t bytes_of(WeightId id) const;

  const Matrix& matrix(WeightId id) const { return *matrices_[id]; }
  std::span<const float> vector(WeightId id) const { return vectors_[id]; }
  NormNumbers numbers_of(const NormSpec& spec) const;
  /// Adds the bias, if any, to every row of y.
  void add_bias(const LinearSpec& linear, Span2d<float> y) const;

  /// Grows the scratch for products of each matrix with `rows` rows.
  void reserve(std::size_t rows, MatmulScratch& scratch) const;

 private:
  const ModelSpec& spec_;
  ThreadPool& pool_;
  SharedPages pages_;
  std::vector<std::optional<Matrix>> matrices_;  // by weight
  std::vector<std::vector<float>> vectors_;      // by weight
};

}  // namespace spectr
