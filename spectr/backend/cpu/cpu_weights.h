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

/// The numbers of a norm, as kernels take them.
struct NormNumbers {
  std::span<const float> weight, bias;
  float epsilon;
};

/// out = norm(x), by the kind of norm. `out` may be x.
void normalize(NormSpec::Kind kind, const NormNumbers& norm, std::span<const float> x, std::span<float> out);

/// A model's weights as the processor has them: matrices of quantized formats repacked, others as they stand
/// in the file, vectors as floats.
class CpuWeights {
 public:
  /// Both must outlive it.
  CpuWeights(const ModelSpec& spec, ThreadPool& pool);

  /// See Ops::upload.
  bool upload(WeightId id, std::span<const std::byte> bytes);
  std::size_t bytes_of(WeightId id) const;

  const Matrix& matrix(WeightId id) const { return *matrices_[id]; }
  std::span<const float> vector(WeightId id) const { return vectors_[id]; }
  NormNumbers numbers_of(const NormSpec& spec) const;
  /// y[r] += the bias, where there is one.
  void add_bias(const LinearSpec& linear, Span2d<float> y) const;

  /// Lets the scratch grow for products of each matrix with so many rows.
  void reserve(std::size_t rows, MatmulScratch& scratch) const;

 private:
  const ModelSpec& spec_;
  ThreadPool& pool_;
  SharedPages pages_;
  std::vector<std::optional<Matrix>> matrices_;  // by weight
  std::vector<std::vector<float>> vectors_;      // by weight
};

}  // namespace spectr
