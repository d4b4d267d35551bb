#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/kernels/activations.h"
#include "spectr/kernels/float_lines.h"
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

/// What is asked for early while rows of plain numbers are used: a part of four rows every time that a kernel
/// goes over the columns.
struct ComingRows {
  const std::byte* from;   ///< of the first row
  std::size_t step_bytes;  ///< of each row, with every 16 columns
};

/// Rows of plain numbers as they stand in the file.
struct FloatRows {
  const std::byte* first;
  std::size_t count;  ///< 1 to 4
  std::size_t row_bytes;
  std::size_t cols;
  ComingRows coming;
};

/// The same for the rows of one sweep and a few rows of plain numbers.
struct FloatKernel {
  /// `x` holds the rows as arrange() writes them; y[r · stride + i], i < w.count.
  void (*multiply)(const FloatRows& w, const float* x, float* y, std::size_t stride);
  FloatLines lines;   ///< how it wants them
  std::size_t times;  ///< that it goes over the columns
};

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
