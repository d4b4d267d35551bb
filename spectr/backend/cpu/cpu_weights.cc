#include "spectr/backend/cpu/cpu_weights.h"

#include <algorithm>

#include "spectr/backend/cpu/for_each_row.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/gguf/dequantize.h"

namespace spectr {

void normalize(NormSpec::Kind kind, const NormNumbers& norm, std::span<const float> x, std::span<float> out) {
  if (kind == NormSpec::Kind::rms) {
    rms_norm(x, norm.weight, norm.epsilon, out);
  } else {
    layer_norm(x, norm.weight, norm.bias, norm.epsilon, out);
  }
}

CpuWeights::CpuWeights(const ModelSpec& spec, ThreadPool& pool)
    : spec_(spec), pool_(pool), matrices_(spec.weights.size()), vectors_(spec.weights.size()) {}

bool CpuWeights::upload(WeightId id, std::span<const std::byte> bytes) {
  const WeightSpec& weight = spec_.weight(id);
  if (weight.is_vector) {
    vectors_[id].resize(weight.cols);
    dequantize(weight.type, bytes, vectors_[id]);
    return true;  // too small to be worth releasing the file's bytes
  }
  matrices_[id] = Matrix::pack(weight.type, weight.rows, weight.cols, bytes, pool_, &pages_);
  return matrices_[id]->borrows();
}

std::size_t CpuWeights::bytes_of(WeightId id) const {
  return matrices_[id] ? matrices_[id]->bytes() : vectors_[id].size() * sizeof(float);
}

NormNumbers CpuWeights::numbers_of(const NormSpec& spec) const {
  return {vectors_[spec.weight],
          spec.bias ? std::span<const float>(vectors_[*spec.bias]) : std::span<const float>(), spec.epsilon};
}

void CpuWeights::add_bias(const LinearSpec& linear, Span2d<float> y) const {
  if (!linear.bias) return;
  for_each_row(y.rows(), y.cols(), pool_, [&](std::size_t r) { add(y[r], vectors_[*linear.bias]); });
}

void CpuWeights::reserve(std::size_t rows, MatmulScratch& scratch) const {
  for (WeightId id = 0; id < matrices_.size(); ++id) {
    const auto same_shape = [&, this](const std::optional<Matrix>& one) {
      return one && one->type() == matrices_[id]->type() && one->cols() == matrices_[id]->cols();
    };
    const bool is_first = matrices_[id] && std::ranges::none_of(std::span(matrices_).first(id), same_shape);
    if (is_first) scratch.reserve(*matrices_[id], rows);
  }
}

}  // namespace spectr
