#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "spectr/gguf/dequantize.h"
#include "spectr/nn/model_spec.h"

namespace spectr {

/// A model's dequantized weights, and computations on single rows with them, by definition: scalar loops in
/// the type Number.
template <class Number>
class ReferenceWeights {
 public:
  /// The spec must outlive it.
  explicit ReferenceWeights(const ModelSpec& spec) : spec_(spec), numbers_(spec.weights.size()) {}

  void upload(WeightId id, std::span<const std::byte> bytes) {
    const WeightSpec& weight = spec_.weight(id);
    numbers_[id].resize(weight.rows * weight.cols);
    dequantize(weight.type, bytes, numbers_[id]);
  }

  const std::vector<float>& operator[](WeightId id) const { return numbers_[id]; }

  template <class Index>
  std::span<const float> row(WeightId id, Index i) const {
    const std::size_t cols = spec_.weight(id).cols;
    return std::span(numbers_[id]).subspan(static_cast<std::size_t>(i) * cols, cols);
  }

  void multiply(const LinearSpec& linear, std::span<const Number> x, std::span<Number> y) const {
    for (std::size_t i = 0; i < linear.out; ++i) {
      const Number* of_x = x.data();
      Number sum = 0;
      for (const float w : row(linear.weight, i).first(linear.in)) sum += Number(w) * *of_x++;
      y[i] = linear.bias ? sum + Number(numbers_[*linear.bias][i]) : sum;
    }
  }

  /// Normalizes x.size() numbers; `weight` may be null.
  static void normalize(NormSpec::Kind kind, float epsilon, const std::vector<float>* weight,
                        const std::vector<float>* bias, std::span<const Number> x, std::span<Number> out) {
    const auto n = static_cast<Number>(x.size());
    Number mean = 0, squares = 0;
    if (kind == NormSpec::Kind::layer) {
      for (const Number v : x) mean += v / n;
    }
    for (const Number v : x) squares += (v - mean) * (v - mean) / n;
    const Number factor = 1 / std::sqrt(squares + Number(epsilon));
    for (std::size_t j = 0; j < x.size(); ++j) {
      out[j] = (x[j] - mean) * factor;
      if (weight != nullptr) out[j] *= Number((*weight)[j]);
      if (bias != nullptr) out[j] += Number((*bias)[j]);
    }
  }

  /// Normalizes the first numbers of x: as many as the norm has weights.
  void normalize(const NormSpec& spec, std::span<const Number> x, std::span<Number> out) const {
    const std::vector<float>& weight = numbers_[spec.weight];
    normalize(spec.kind, spec.epsilon, &weight, spec.bias ? &numbers_[*spec.bias] : nullptr,
              x.first(weight.size()), out.first(weight.size()));
  }

 private:
  const ModelSpec& spec_;
  std::vector<std::vector<float>> numbers_;
};

template <class Number>
Number sigmoid_of(Number z) {
  return 1 / (1 + std::exp(-z));
}

/// Returns cap · tanh(x / cap), or x if there is no cap.
template <class Number>
Number capped(float cap, Number x) {
  return cap > 0 ? Number(cap) * std::tanh(x / Number(cap)) : x;
}

/// Returns act(gate) · up.
template <class Number>
Number activated(Activation activation, float clamp, Number gate, Number up) {
  switch (activation) {
    case Activation::silu:
      return gate * sigmoid_of(gate) * up;
    case Activation::gelu_tanh: {
      const Number u = std::sqrt(Number(2) / Number(3.14159265358979323846)) *
                       (gate + Number(0.044715) * gate * gate * gate);
      return gate / 2 * (1 + std::tanh(u)) * up;
    }
    case Activation::gelu:
      return gate / 2 * std::erfc(-gate / std::sqrt(Number(2))) * up;
    case Activation::relu:
      return (gate > 0 ? gate : Number(0)) * up;
    case Activation::clamped_silu: {
      const auto most = Number(clamp);
      const Number g = gate < most ? gate : most, u = up < -most ? -most : up < most ? up : most;
      return g * sigmoid_of(Number(1.702) * g) * (u + 1);
    }
  }
  return 0;
}

}  // namespace spectr
