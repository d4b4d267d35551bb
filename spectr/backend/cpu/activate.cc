#include "spectr/backend/cpu/activate.h"

#include <vector>

#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

// So many numbers are activated in the time that it takes threads to meet.
constexpr std::size_t activation_numbers = 1536;

void activate_part(Activation activation, std::span<float> gate, std::span<float> up) {
  static const std::vector<float> ones(2 * activation_numbers, 1.0f);
  if (activation == Activation::silu) {
    if (gate.empty()) {
      swiglu(up, std::span(ones).first(up.size()));
    } else {
      swiglu(gate, up);
    }
  } else {
    gelu(gate.empty() ? up : gate);
    for (std::size_t j = 0; j < gate.size(); ++j) gate[j] *= up[j];
  }
}

}  // namespace

void activate(const DenseSpec& spec, Span2d<float> gate, Span2d<float> up, ThreadPool& pool) {
  const std::size_t parts = div_up(spec.width, activation_numbers);  // of a row
  pool.parallel_for(
      up.rows() * parts, div_up(activation_numbers, 2 * spec.width), [&](std::size_t begin, std::size_t end) {
        for (std::size_t task = begin; task < end; ++task) {
          const std::size_t r = task / parts, part = task % parts;
          const std::size_t from = part * spec.width / parts, to = (part + 1) * spec.width / parts;
          activate_part(spec.activation, spec.gate ? gate[r].subspan(from, to - from) : std::span<float>(),
                        up[r].subspan(from, to - from));
        }
      });
}

}  // namespace spectr
