#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"
#include "spectr/kernels/activations.h"
#include "spectr/kernels/matrix.h"

namespace spectr {

/// The instruction sets that matrix products are written for. All give the same bits.
enum class KernelLevel { portable, neon, neon_dot, avx2, avx2_vnni, avx512, avx512_vnni, amx };

std::string_view name_of(KernelLevel level);

/// Those that this machine can run, the best one last.
const std::vector<KernelLevel>& available_levels();

struct PanelRun;

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
  /// What its product of signed bytes (Q8_0) has too much, per unit of the activation.
  int signed_excess;
  /// Panels come from memory four abreast where four have at most so many bytes.
  std::size_t abreast_bytes;
  PanelKernel (*panel_kernel)(TensorType type, std::size_t cols, int rows);
  FloatKernel (*float_kernel)(TensorType type, int rows);
};

const KernelSet& kernels_of(KernelLevel level);

/// matmul() at a level of the caller's choice.
void matmul_at(KernelLevel level, std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
               MatmulScratch& scratch);

}  // namespace spectr
