#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/backend/cpu/kernel_level.h"
#include "spectr/backend/cpu/kernels/activations.h"
#include "spectr/backend/cpu/kernels/float_lines.h"
#include "spectr/backend/cpu/kernels/panels.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr {

/// Computes y = x Wᵀ for the rows of one sweep and the weights of a run of panels.
struct PanelKernel {
  /// `x` holds the rows as quantize_row() writes them. Writes y[r · stride + i], i < run.rows.
  void (*multiply)(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride);
  ActivationBlock block;  ///< required layout of x
};

/// The prefetch target during products with floating-point weights: a part of four rows for each iteration
/// over the columns.
struct RowPrefetch {
  const std::byte* from;   ///< start of the first row's part
  std::size_t step_bytes;  ///< bytes per row and 16 columns
};

/// Rows of floating-point weights in the file's layout.
struct FloatRows {
  const std::byte* first;
  std::size_t count;  ///< 1 to 4
  std::size_t row_bytes;
  std::size_t cols;
  RowPrefetch upcoming;
};

/// Computes y = x Wᵀ for the rows of one sweep and a few rows of floating-point weights.
struct FloatKernel {
  /// `x` holds the rows as arrange() writes them. Writes y[r · stride + i], i < w.count.
  void (*multiply)(const FloatRows& w, const float* x, float* y, std::size_t stride);
  FloatLines lines;   ///< required layout of x
  std::size_t times;  ///< number of iterations over the columns
};

/// The kernels of a level. A sweep is one pass over weights, for at most `largest_sweep` rows of x, which is
/// the limit of all kernels.
struct KernelSet {
  int (*largest_sweep)(TensorType type, std::size_t cols);
  int largest_float_sweep;
  /// Panels are read four at a time, interleaved, if four have at most this many bytes; otherwise in the
  /// order `fallback`.
  std::size_t interleaved_bytes;
  PanelOrder fallback;
  PanelKernel (*panel_kernel)(TensorType type, std::size_t cols, int rows);
  FloatKernel (*float_kernel)(TensorType type, int rows);
};

/// Returns true if this build has the kernels of a level. The portable ones are always built.
bool is_built(KernelLevel level);
/// Requires: is_built(level).
const KernelSet& kernels_of(KernelLevel level);

// Each is defined in a separate source file, compiled for its instruction set.
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
