#include "spectr/backend/cpu/kernels/matmul.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "spectr/backend/cpu/kernels/activations.h"
#include "spectr/backend/cpu/kernels/kernel_set.h"
#include "spectr/backend/cpu/kernels/panels.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

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

/// n rows of x as few sweeps as the kernels allow, as even as possible: of two sizes at most.
struct Sweeps {
  std::size_t count;
  std::size_t size;    ///< of the smaller ones
  std::size_t larger;  ///< so many sweeps, the first ones, have one row more

  Sweeps(std::size_t n, int largest)
      : count(div_up(n, static_cast<std::size_t>(largest))), size(n / count), larger(n % count) {}
  Sweep operator[](std::size_t i) const {
    return {i * size + std::min(i, larger), size + (i < larger ? 1 : 0)};
  }
  Sweep first() const { return (*this)[0]; }
  Sweep last() const { return (*this)[count - 1]; }
};

/// So many numbers are quantized in the time that it takes threads to meet.
constexpr std::size_t numbers_worth_sharing = 8192;

/// So many bytes of weights stay close to a core from one sweep to the next.
constexpr std::size_t cached_bytes = std::size_t{32} << 10;

PanelKernel kernel_for(const KernelSet& set, const Matrix::Packed& w, const Sweep& sweep) {
  return set.panel_kernel(w.type, w.cols, static_cast<int>(sweep.size));
}

/// Writes each sweep of x as blocks, at multiples of sweep_bytes from `out` on.
void quantize(const KernelSet& set, const Matrix::Packed& w, Span2d<const float> x, const Sweeps& sweeps,
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
        quantize_row(share, block, static_cast<int>(r), blocks);
      }
    }
  });
}

/// The bytes of the largest sweep of x as blocks.
std::size_t largest_sweep_bytes(const KernelSet& set, const Matrix::Packed& w, const Sweeps& sweeps) {
  const auto bytes = [&](const Sweep& sweep) { return kernel_for(set, w, sweep).block.bytes(); };
  return ActivationBlock::count(w.cols) * std::max(bytes(sweeps.first()), bytes(sweeps.last()));
}

/// How much of the scratch a product with so many rows of x takes.
std::size_t scratch_bytes(const KernelSet& set, const Matrix::Packed& w, std::size_t rows) {
  if (!w.panels) return rows * w.cols * sizeof(float);
  const Sweeps sweeps(rows, set.largest_sweep(w.type, w.cols));
  return sweeps.count * largest_sweep_bytes(set, w, sweeps);
}

/// Four panels come interleaved where the quarters of one would be so close that memory answers them like one
/// place. Where rows are many, the arithmetic needs the nearest cache for the panel at hand.
PanelOrder order_of_panels(const KernelSet& set, const PanelShape& shape, std::size_t rows) {
  if (rows <= 8 && 4 * shape.panel_bytes() <= set.interleaved_bytes) return PanelOrder::interleaved;
  return rows <= 4 ? set.fallback : PanelOrder::quarters;
}

/// body(w, y, begin, end) for units [begin, end) of `unit` rows of weights of a product, until all products
/// are done: the threads share the units of all of them, and meet once.
template <class Body>
void share_units(std::span<const Product> products, std::size_t unit, ThreadPool& pool, Body&& body) {
  const auto units_of = [unit](const Product& product) { return div_up(product.w.rows(), unit); };
  std::size_t units = 0;
  for (const Product& product : products) units += units_of(product);
  pool.parallel_for(units, 1, [&](std::size_t begin, std::size_t end) {
    std::size_t before = 0;  // units of the products before
    for (const Product& product : products) {
      const std::size_t after = before + units_of(product);
      const std::size_t from = std::max(begin, before), to = std::min(end, after);
      if (from < to) body(product.w.packed(), product.y, from - before, to - before);
      before = after;
    }
  });
}

/// Products of one x with quantized matrices of one type: x is quantized once, and the threads meet once.
void multiply_quantized(const KernelSet& set, std::span<const Product> products, Span2d<const float> x,
                        ThreadPool& pool, MatmulScratch& scratch) {
  const Matrix::Packed& first = products.front().w.packed();
  const Sweeps sweeps(x.rows(), set.largest_sweep(first.type, first.cols));
  const std::size_t sweep_bytes = largest_sweep_bytes(set, first, sweeps);
  std::uint8_t* quantized = scratch.state().at_least(sweeps.count * sweep_bytes);
  quantize(set, first, x, sweeps, sweep_bytes, pool, quantized);

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
            .multiply(run, quantized + i * sweep_bytes, y[sweep.begin].data() + p * panel_rows, w.rows);
      }
    }
  };
  share_units(products, panel_rows, pool, multiply_run);
}

/// The nearest BF16 number, ties to the even one. NaN stays NaN.
float round_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fff'ffffu) > 0x7f80'0000u) return x;
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

FloatKernel float_kernel_for(const KernelSet& set, TensorType type, const Sweep& sweep) {
  return set.float_kernel(type, static_cast<int>(sweep.size));
}

/// The rows of each sweep of x as its kernel wants them, one sweep after the other: in the scratch, or where
/// they are.
const float* arrange_sweeps(const KernelSet& set, TensorType type, Span2d<const float> x,
                            const Sweeps& sweeps, ThreadPool& pool, MatmulScratch& scratch) {
  const bool rounded = type == TensorType::bf16;
  const auto as_they_are = [&](const Sweep& s) { return float_kernel_for(set, type, s).lines.as_they_are(); };
  if (!rounded && as_they_are(sweeps.first()) && as_they_are(sweeps.last())) return x.data();
  auto* const out = reinterpret_cast<float*>(scratch.state().at_least(x.rows() * x.cols() * sizeof(float)));
  const std::size_t grain = numbers_worth_sharing / (sweeps.first().size * x.cols()) + 1;
  pool.parallel_for(sweeps.count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Sweep sweep = sweeps[i];
      float* const lines = out + sweep.begin * x.cols();
      arrange(x.rows(sweep.begin, sweep.size), float_kernel_for(set, type, sweep).lines, lines);
      // Engines multiply BF16 by BF16; with unrounded activations the logits would differ from theirs.
      if (rounded) std::transform(lines, lines + sweep.size * x.cols(), lines, round_to_bf16);
    }
  });
  return out;
}

/// Products of one x with matrices of plain numbers of one type.
void multiply_plain(const KernelSet& set, std::span<const Product> products, Span2d<const float> x,
                    ThreadPool& pool, MatmulScratch& scratch) {
  const TensorType type = products.front().w.type();
  const std::size_t width = type == TensorType::f32 ? 4 : 2, row_bytes = x.cols() * width;
  const Sweeps sweeps(x.rows(), set.largest_float_sweep);
  const float* const arranged = arrange_sweeps(set, type, x, sweeps, pool, scratch);

  // Every time that a kernel goes over the columns, it prefetches its share of the four upcoming rows.
  struct Task {
    FloatKernel kernel;
    std::size_t step_bytes;
  };
  const auto task_of = [&](const Sweep& sweep) -> Task {
    const FloatKernel kernel = float_kernel_for(set, type, sweep);
    return {kernel, FloatLines::sums * width / (sweeps.count * kernel.times)};
  };
  const Task larger = task_of(sweeps.first()), smaller = task_of(sweeps.last());
  const std::size_t sweep_share = row_bytes / sweeps.count;
  const auto multiply_rows = [&](const Matrix::Packed& w, Span2d<float> y, std::size_t begin,
                                 std::size_t end) {
    for (std::size_t row = 4 * begin; row < std::min(4 * end, w.rows); row += 4) {
      FloatRows rows{.first = w.file.data() + row * row_bytes,
                     .count = std::min<std::size_t>(4, w.rows - row),
                     .row_bytes = row_bytes,
                     .cols = w.cols,
                     .upcoming = {}};
      const std::byte* const next = row + 8 <= w.rows ? rows.first + 4 * row_bytes : rows.first;
      for (std::size_t i = 0; i < sweeps.count; ++i) {
        const Sweep sweep = sweeps[i];
        const Task& task = i < sweeps.larger ? larger : smaller;
        rows.upcoming = {next + i * sweep_share, task.step_bytes};
        task.kernel.multiply(rows, arranged + sweep.begin * w.cols, y[sweep.begin].data() + row, w.rows);
      }
    }
  };
  share_units(products, 4, pool, multiply_rows);
}

}  // namespace

void MatmulScratch::reserve(const Matrix& w, std::size_t max_rows) {
  const KernelSet& set = kernels_of(available_levels().back());
  std::size_t needed = 0;
  for (std::size_t rows = 1; rows <= max_rows; ++rows)
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
    const auto other =
        std::ranges::find_if(products, [type](const Product& p) { return p.w.type() != type; });
    const auto alike = static_cast<std::size_t>(other - products.begin());
    const auto multiply = quant_layout(type) ? multiply_quantized : multiply_plain;
    multiply(set, products.first(alike), x, pool, scratch);
    products = products.subspan(alike);
  }
}

void matmul(std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
            MatmulScratch& scratch) {
  matmul_at(available_levels().back(), products, x, pool, scratch);
}

}  // namespace spectr
