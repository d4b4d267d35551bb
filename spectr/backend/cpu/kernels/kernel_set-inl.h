// The table of kernels of an instruction set (see panel_kernel-inl.h).
#pragma once

#include "spectr/backend/cpu/kernels/float_kernel-inl.h"
#include "spectr/backend/cpu/kernels/kernel_set.h"
#include "spectr/backend/cpu/kernels/panel_kernel-inl.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr {

template <class Lanes, KeptFormat Format>
PanelKernel panel_kernel_for(int rows) {
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{
        PanelKernel{&multiply_panels<Lanes, Format, r + 1>, activation_block<Lanes, Format>(r + 1)}...};
  }(std::make_integer_sequence<int, Lanes::largest_sweep>());
  return kernels[static_cast<std::size_t>(rows - 1)];
}

template <class Lanes, PlainFormat Format>
FloatKernel float_kernel_for(int rows) {
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{FloatKernel{&multiply_floats<Lanes, Format, r + 1>, float_lines<Lanes, Format>(r + 1),
                                  times_over_columns<Lanes, Format>(r + 1)}...};
  }(std::make_integer_sequence<int, Lanes::largest_float_sweep>());
  return kernels[static_cast<std::size_t>(rows - 1)];
}

template <class Lanes>
PanelKernel panel_kernel(TensorType type, std::size_t, int rows) {
  PanelKernel kernel{};
  with_format(type, [&]<class Format>(Format) {
    if constexpr (QuantFormat<Format>) {
      kernel = panel_kernel_for<Lanes, typename KeptAs<Format>::Type>(rows);
    }
  });
  return kernel;
}

template <class Lanes>
FloatKernel float_kernel(TensorType type, int rows) {
  FloatKernel kernel{};
  with_format(type, [&]<class Format>(Format) {
    if constexpr (PlainFormat<Format>) kernel = float_kernel_for<Lanes, Format>(rows);
  });
  return kernel;
}

template <class Lanes>
constexpr KernelSet kernel_set_of = {
    .largest_sweep = [](TensorType, std::size_t) { return Lanes::largest_sweep; },
    .largest_float_sweep = Lanes::largest_float_sweep,
    .interleaved_bytes = Lanes::prefetching.interleaved_bytes,
    .fallback = Lanes::prefetching.fallback,
    .panel_kernel = panel_kernel<Lanes>,
    .float_kernel = float_kernel<Lanes>};

}  // namespace spectr
