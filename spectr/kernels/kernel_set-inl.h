// The table of an instruction set's kernels (see panel_kernel-inl.h).
#pragma once

#include "spectr/kernels/float_kernel-inl.h"
#include "spectr/kernels/kernel_set.h"
#include "spectr/kernels/panel_kernel-inl.h"

namespace spectr {

template <class Lanes, TensorType type>
PanelKernel panel_kernel_for(int rows) {
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{
        PanelKernel{&multiply_panels<Lanes, type, r + 1>, activation_block<Lanes, type>(r + 1)}...};
  }(std::make_integer_sequence<int, Lanes::largest_sweep>());
  return kernels[static_cast<std::size_t>(rows - 1)];
}

template <class Lanes, TensorType type>
FloatKernel float_kernel_for(int rows) {
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{FloatKernel{&multiply_floats<Lanes, type, r + 1>, float_lines<Lanes, type>(r + 1),
                                  times_over_columns<Lanes, type>(r + 1)}...};
  }(std::make_integer_sequence<int, Lanes::largest_float_sweep>());
  return kernels[static_cast<std::size_t>(rows - 1)];
}

template <class Lanes>
PanelKernel panel_kernel(TensorType type, std::size_t, int rows) {
  switch (type) {
    using enum TensorType;
    case q8_0:
      return panel_kernel_for<Lanes, q8_0>(rows);
    case q4_0:
      return panel_kernel_for<Lanes, q4_0>(rows);
    case q4_1:
      return panel_kernel_for<Lanes, q4_1>(rows);
    case q5_0:
      return panel_kernel_for<Lanes, q5_0>(rows);
    case q5_1:
      return panel_kernel_for<Lanes, q5_1>(rows);
    case q2_k:
      return panel_kernel_for<Lanes, q2_k>(rows);
    case q3_k:
      return panel_kernel_for<Lanes, q3_k>(rows);
    case q4_k:
      return panel_kernel_for<Lanes, q4_k>(rows);
    case q5_k:
      return panel_kernel_for<Lanes, q5_k>(rows);
    case q6_k:
      return panel_kernel_for<Lanes, q6_k>(rows);
    case iq4_nl:
      return panel_kernel_for<Lanes, iq4_nl>(rows);
    case iq4_xs:
      return panel_kernel_for<Lanes, iq4_xs>(rows);
    default:
      return {};
  }
}

template <class Lanes>
FloatKernel float_kernel(TensorType type, int rows) {
  switch (type) {
    using enum TensorType;
    case f32:
      return float_kernel_for<Lanes, f32>(rows);
    case f16:
      return float_kernel_for<Lanes, f16>(rows);
    case bf16:
      return float_kernel_for<Lanes, bf16>(rows);
    default:
      return {};
  }
}

template <class Lanes>
constexpr KernelSet kernel_set_of = {
    .largest_sweep = [](TensorType, std::size_t) { return Lanes::largest_sweep; },
    .largest_float_sweep = Lanes::largest_float_sweep,
    .abreast_bytes = Lanes::fetching.abreast_bytes,
    .else_in = Lanes::fetching.else_in,
    .panel_kernel = panel_kernel<Lanes>,
    .float_kernel = float_kernel<Lanes>};

}  // namespace spectr
