#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/kernels/activations.h"
#include "spectr/kernels/kernel_level.h"
#include "spectr/kernels/panels.h"
#include "spectr/kernels/tensor_type.h"

namespace spectr {

/// y = x Wᵀ for the rows of one sweep and the weights of a run of panels.
struct PanelKernel {
  /// `x` holds the rows as quantise_row writes them; y[r · stride + i], i < run.rows.
  void (*multiply)(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride);
  ActivationBlock block;  ///< how it wants them
};

/// The same for `count` ≤ 4 rows of plain numbers, each `row_bytes` long, and rows of x of `cols` numbers.
/// What will be read next is `ahead` bytes further.
using FloatKernel = void (*)(const std::byte* w, std::size_t row_bytes, std::size_t cols,
                             std::ptrdiff_t ahead, const float* x, float* y, std::size_t stride,
                             std::size_t count);

/// What a level brings. A sweep is one pass over weights, for at most `largest_sweep` rows of x; no kernel
/// for more is asked for.
struct KernelSet {
  int (*largest_sweep)(TensorType type, std::size_t cols);
  int largest_float_sweep;
  /// Panels come from memory four abreast where four have at most so many bytes, else in this order.
  std::size_t abreast_bytes;
  PanelOrder else_in;
  PanelKernel (*panel_kernel)(TensorType type, std::size_t cols, int rows);
  FloatKernel (*float_kernel)(TensorType type, int rows);
};

/// Requires: the level is one of this machine's architecture.
const KernelSet& kernels_of(KernelLevel level);

// Each in a source file of its own, compiled for its instruction set.
const KernelSet& portable_kernels();
#if defined(__x86_64__)
const KernelSet& avx2_kernels();
const KernelSet& avx2_vnni_kernels();
const KernelSet& avx512_kernels();
const KernelSet& avx512_vnni_kernels();
const KernelSet& amx_kernels();
#elif defined(__aarch64__)
const KernelSet& neon_kernels();
const KernelSet& neon_dot_kernels();
#endif

}  // namespace spectr
