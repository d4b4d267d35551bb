#include "spectr/backend/cpu/activate.h"

#include <vector>

#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

// Numbers activated in about the time of a thread barrier.
constexpr std::size_t activation_numbers = 1536;

/// Computes the activation without a gate, as one whose `up` is all ones.
void activate_alone(const DenseSpec& spec, std::span<float> up) {
  static const std::vector<float> ones(2 * activation_numbers, 1.0f);
  activate(spec.activation, spec.clamp, up, std::span(ones).first(up.size()));
}

}  // namespace

void activate(Activation activation, float clamp, std::span<float> gate, std::span<const float> up) {
  switch (activation) {
    case Activation::silu:
      return swiglu(gate, up);
    case Activation::clamped_silu:
      return clamped_swiglu(gate, up, clamp);
    case Activation::gelu_tanh:
      gelu_tanh(gate);
      break;
    case Activation::gelu:
      gelu(gate);
      break;
    case Activation::relu:
      for (float& number : gate) number = number < 0.0f ? 0.0f : number;  // NaN stays NaN
      break;
  }
  for (std::size_t j = 0; j < gate.size(); ++j) gate[j] *= up[j];
}

void activate(const DenseSpec& spec, Span2d<float> gate, Span2d<float> up, ThreadPool& pool) {
  const std::size_t parts = div_up(spec.width, activation_numbers);  // per row
  pool.parallel_for(
      up.rows() * parts, div_up(activation_numbers, 2 * spec.width), [&](std::size_t begin, std::size_t end) {
        for (std::size_t task = begin; task < end; ++task) {
          const std::size_t r = task / parts, part = task % parts;
          const std::size_t from = part * spec.width / parts, to = (part + 1) * spec.width / parts;
          const std::span<float> part_of_up = up[r].subspan(from, to - from);
          if (spec.gate) {
            activate(spec.activation, spec.clamp, gate[r].subspan(from, to - from), part_of_up);
          } else {
            activate_alone(spec, part_of_up);
          }
        }
      });
}

}  // namespace spectr
