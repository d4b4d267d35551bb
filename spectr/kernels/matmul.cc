#include "spectr/kernels/matmul.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "spectr/base/check.h"
#include "spectr/kernels/activations.h"
#include "spectr/kernels/kernel_set.h"
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

/// Rows [begin, begin + size) of x: those of one sweep.
struct Sweep {
  std::size_t begin;
  std::size_t size;
};

/// n rows of x as few sweeps as the kernels allow, as even as possible.
struct Sweeps {
  std::size_t rows;
  std::size_t count;

  Sweeps(std::size_t n, int largest)
      : rows(n), count((n + static_cast<std::size_t>(largest) - 1) / static_cast<std::size_t>(largest)) {}
  Sweep operator[](std::size_t i) const {
    const std::size_t extra = rows % count;  // so many sweeps have one row more
    return {i * (rows / count) + std::min(i, extra), rows / count + (i < extra ? 1 : 0)};
  }
};

/// So many numbers are quantised in the time that it takes threads to meet.
constexpr std::size_t numbers_worth_sharing = 8192;

/// So many bytes of weights stay close to a core from one sweep to the next.
constexpr std::size_t cached_bytes = std::size_t{32} << 10;

PanelKernel kernel_for(const KernelSet& set, const Matrix::Packed& w, const Sweep& sweep) {
  return set.panel_kernel(w.type, w.cols, static_cast<int>(sweep.size));
}

/// Each sweep of x as blocks, at multiples of sweep_bytes from `out` on.
void quantise(const KernelSet& set, const Matrix::Packed& w, Span2d<const float> x, const Sweeps& sweeps,
              std::size_t sweep_bytes, ThreadPool& pool, std::uint8_t* out) {
  // Threads share the columns: the rows of a block lie so close that they would wait for each other's lines.
  constexpr std::size_t columns = ActivationBlock::columns, fewest = 128;  // columns in one go
  const std::size_t grain = std::max(fewest, numbers_worth_sharing / x.rows()) / columns;
  pool.parallel_for(ActivationBlock::count(w.cols), grain, [&](std::size_t begin, std::size_t end) {
    const std::size_t from = begin * columns, to = std::min(end * columns, w.cols);
    for (std::size_t i = 0; i < sweeps.count; ++i) {
      const Sweep sweep = sweeps[i];
      const ActivationBlock block = kernel_for(set, w, sweep).block;
      std::uint8_t* const blocks = out + i * sweep_bytes + begin * block.bytes();
      for (std::size_t r = 0; r < sweep.size; ++r) {
        const auto share = x[sweep.begin + r].subspan(from, to - from);
        quantise_row(share, block, static_cast<int>(r), blocks);
      }
    }
  });
}

/// Bytes of a sweep of x as blocks: the largest one's. Sweeps have two sizes at most.
std::size_t largest_sweep_bytes(const KernelSet& set, const Matrix::Packed& w, const Sweeps& sweeps) {
  const auto bytes = [&](std::size_t i) { return kernel_for(set, w, sweeps[i]).block.bytes(); };
  return ActivationBlock::count(w.cols) * std::max(bytes(0), bytes(sweeps.count - 1));
}

/// What a product with so many rows of x takes of the scratch.
std::size_t scratch_bytes(const KernelSet& set, const Matrix::Packed& w, std::size_t rows) {
  if (w.type == TensorType::bf16) return rows * w.cols * sizeof(float);
  if (!w.panels) return 0;
  const Sweeps sweeps(rows, set.largest_sweep(w.type, w.cols));
  return sweeps.count * largest_sweep_bytes(set, w, sweeps);
}

/// Four panels come abreast where the quarters of one would be so close that memory answers them like one
/// place. Where rows are many, the arithmetic needs the nearest cache for the panel at hand.
PanelOrder order_of_panels(const KernelSet& set, const PanelShape& shape, std::size_t rows) {
  if (rows <= 8 && 4 * shape.panel_bytes() <= set.abreast_bytes) return PanelOrder::abreast;
  return rows <= 4 ? set.else_in : PanelOrder::quarters;
}

/// Products of one x with quantised matrices of one type: x is quantised once, and the threads meet once.
void multiply_codes(const KernelSet& set, std::span<const Product> products, Span2d<const float> x,
                    ThreadPool& pool, MatmulScratch& scratch) {
  const Matrix::Packed& first = products.front().w.packed();
  const Sweeps sweeps(x.rows(), set.largest_sweep(first.type, first.cols));
  const std::size_t sweep_bytes = largest_sweep_bytes(set, first, sweeps);
  std::uint8_t* quantised = scratch.state().at_least(sweeps.count * sweep_bytes);
  quantise(set, first, x, sweeps, sweep_bytes, pool, quantised);

  // With several sweeps panels meet all of them while they are in the cache.
  const auto multiply_run = [&](const Matrix::Packed& w, Span2d<float> y, std::size_t begin,
                                std::size_t end) {
    const std::size_t kept = std::max<std::size_t>(1, cached_bytes / w.shape.panel_bytes());
    const std::size_t panels = sweeps.count == 1 ? end - begin : kept;
    const PanelOrder order = order_of_panels(set, w.shape, x.rows());
    for (std::size_t p = begin; p < end; p += panels) {
      const std::size_t rows = std::min(std::min(panels, end - p) * panel_rows, w.rows - p * panel_rows);
      for (std::size_t i = 0; i < sweeps.count; ++i) {
        const Sweep sweep = sweeps[i];
        const PanelRun run{w.shape, w.panel(p), rows, p, i == 0 ? w.panel_count() - p : 0, order};
        kernel_for(set, w, sweep)
            .multiply(run, quantised + i * sweep_bytes, y[sweep.begin].data() + p * panel_rows, w.rows);
      }
    }
  };
  std::size_t panels = 0;
  for (const Product& product : products) panels += product.w.packed().panel_count();
  pool.parallel_for(panels, 1, [&](std::size_t begin, std::size_t end) {
    std::size_t before = 0;  // panels of the products before
    for (const Product& product : products) {
      const Matrix::Packed& w = product.w.packed();
      const std::size_t after = before + w.panel_count();
      const std::size_t from = std::max(begin, before), to = std::min(end, after);
      if (from < to) multiply_run(w, product.y, from - before, to - before);
      before = after;
    }
  });
}

/// The nearest BF16 number, ties to the even one. NaN stays NaN.
float round_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fff'ffffu) > 0x7f80'0000u) return x;
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

void multiply_numbers(const KernelSet& set, const Matrix::Packed& w, Span2d<const float> x, Span2d<float> y,
                      ThreadPool& pool, MatmulScratch& scratch) {
  if (w.type == TensorType::bf16) {
    // Engines multiply BF16 by BF16; with unrounded activations the logits would differ from theirs.
    const std::size_t numbers = x.rows() * x.cols();
    auto* rounded = reinterpret_cast<float*>(scratch.state().at_least(numbers * sizeof(float)));
    std::transform(x.data(), x.data() + numbers, rounded, round_to_bf16);
    x = Span2d<const float>(rounded, x.rows(), x.cols());
  }
  const Sweeps sweeps(x.rows(), set.largest_float_sweep);
  const std::size_t row_bytes = w.file.size() / w.rows;
  pool.parallel_for((w.rows + 3) / 4, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = 4 * begin; row < std::min(4 * end, w.rows); row += 4) {
      const std::size_t count = std::min<std::size_t>(4, w.rows - row);
      for (std::size_t i = 0; i < sweeps.count; ++i) {
        const Sweep sweep = sweeps[i];
        const FloatKernel kernel = set.float_kernel(w.type, static_cast<int>(sweep.size));
        const std::size_t ahead = i == 0 && row + 8 <= w.rows ? 4 * row_bytes : 0;
        kernel(w.file.data() + row * row_bytes, row_bytes, w.cols, static_cast<std::ptrdiff_t>(ahead),
               x[sweep.begin].data(), y[sweep.begin].data() + row, w.rows, count);
      }
    }
  });
}

}  // namespace

void MatmulScratch::reserve(const Matrix& w, std::size_t most_rows) {
  const KernelSet& set = kernels_of(available_levels().back());
  std::size_t needed = 0;
  for (std::size_t rows = 1; rows <= most_rows; ++rows)
    needed = std::max(needed, scratch_bytes(set, w.packed(), rows));
  state_->at_least(needed);
}

void matmul_at(KernelLevel level, std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
               MatmulScratch& scratch) {
  for (const auto& [w, y] : products) {
    SPECTR_CHECK(x.cols() == w.cols() && y.cols() == w.rows() && x.rows() == y.rows());
  }
  if (x.rows() == 0) return;
  const KernelSet& set = kernels_of(level);
  while (!products.empty()) {
    const TensorType type = products.front().w.type();
    if (!code_layout(type)) {
      multiply_numbers(set, products.front().w.packed(), x, products.front().y, pool, scratch);
      products = products.subspan(1);
      continue;
    }
    const auto other =
        std::ranges::find_if(products, [type](const Product& p) { return p.w.type() != type; });
    const auto alike = static_cast<std::size_t>(other - products.begin());
    multiply_codes(set, products.first(alike), x, pool, scratch);
    products = products.subspan(alike);
  }
}

void matmul(std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
            MatmulScratch& scratch) {
  matmul_at(available_levels().back(), products, x, pool, scratch);
}

}  // namespace spectr
