#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/kernels/activations.h"
#include "spectr/kernels/kernel_level.h"
#include "spectr/kernels/panels.h"

namespace spectr {

struct MatmulScratch::State {
  AlignedBytes bytes;
  std::size_t size = 0;

  std::uint8_t* at_least(std::size_t needed) {
    if (needed > size) {
      bytes = allocate_aligned(needed);
      size = needed;
    }
    return bytes.get();
  }
};

MatmulScratch::MatmulScratch() : state_(std::make_unique<State>()) {}
MatmulScratch::~MatmulScratch() = default;

namespace {

/// How n rows of x are shared out over sweeps: as few as the kernels allow, as even as possible.
struct Sweeps {
  std::size_t rows;
  std::size_t count;

  Sweeps(std::size_t n, int largest)
      : rows(n), count((n + static_cast<std::size_t>(largest) - 1) / static_cast<std::size_t>(largest)) {}
  std::size_t begin(std::size_t i) const { return i * (rows / count) + std::min(i, rows % count); }
  std::size_t size(std::size_t i) const { return begin(i + 1) - begin(i); }
};

/// Rows of x below which one thread quantises them faster than two would meet.
constexpr std::size_t numbers_worth_sharing = 1 << 15;

void multiply_panels(const KernelSet& set, const Matrix::Packed& w, Span2d<const float> x, Span2d<float> y,
                     ThreadPool& pool, MatmulScratch& scratch) {
  const CodeLayout& layout = w.shape.layout;
  const Sweeps sweeps(x.rows(), set.largest_sweep);
  const std::size_t row_bytes = w.cols / 32 * ActivationBlock{1, layout.scales_per_block()}.bytes();
  std::uint8_t* quantised = scratch.state().at_least(x.rows() * row_bytes);
  const int factor = w.type == TensorType::q8_0 ? -set.signed_excess : -layout.offset;
  const std::size_t grain = x.rows() * w.cols < numbers_worth_sharing ? sweeps.count : 1;
  pool.parallel_for(sweeps.count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      quantise_rows(x.rows(sweeps.begin(i), sweeps.size(i)), layout, factor,
                    quantised + sweeps.begin(i) * row_bytes);
    }
  });
  pool.parallel_for(w.panel_count(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::uint8_t* panel = w.panel(p);
      const std::size_t count = std::min<std::size_t>(panel_rows, w.rows - p * panel_rows);
      for (std::size_t i = 0; i < sweeps.count; ++i) {
        const PanelKernel kernel = set.panel_kernel(w.type, static_cast<int>(sweeps.size(i)));
        const std::size_t ahead = i == 0 && p + 1 < w.panel_count() ? w.shape.panel_bytes() : 0;
        kernel(panel, panel + w.shape.headers_at(), w.shape.units, static_cast<std::ptrdiff_t>(ahead),
               quantised + sweeps.begin(i) * row_bytes, y[sweeps.begin(i)].data() + p * panel_rows, w.rows,
               count);
      }
    }
  });
}

void multiply_numbers(const KernelSet& set, const Matrix::Packed& w, Span2d<const float> x, Span2d<float> y,
                      ThreadPool& pool) {
  const Sweeps sweeps(x.rows(), set.largest_float_sweep);
  const std::size_t row_bytes = w.file.size() / w.rows;
  pool.parallel_for((w.rows + 3) / 4, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = 4 * begin; row < std::min(4 * end, w.rows); row += 4) {
      const std::size_t count = std::min<std::size_t>(4, w.rows - row);
      for (std::size_t i = 0; i < sweeps.count; ++i) {
        const FloatKernel kernel = set.float_kernel(w.type, static_cast<int>(sweeps.size(i)));
        kernel(w.file.data() + row * row_bytes, row_bytes, w.cols, x[sweeps.begin(i)].data(),
               y[sweeps.begin(i)].data() + row, w.rows, count);
      }
    }
  });
}

}  // namespace

void matmul_at(KernelLevel level, const Matrix& w, Span2d<const float> x, Span2d<float> y, ThreadPool& pool,
               MatmulScratch& scratch) {
  SPECTR_CHECK(x.cols() == w.cols() && y.cols() == w.rows() && x.rows() == y.rows());
  if (x.rows() == 0 || w.rows() == 0) return;
  const KernelSet& set = kernels_of(level);
  if (code_layout(w.type())) {
    multiply_panels(set, w.packed(), x, y, pool, scratch);
  } else {
    multiply_numbers(set, w.packed(), x, y, pool);
  }
}

void matmul(const Matrix& w, Span2d<const float> x, Span2d<float> y, ThreadPool& pool,
            MatmulScratch& scratch) {
  matmul_at(available_levels().back(), w, x, y, pool, scratch);
}

}  // namespace spectr
