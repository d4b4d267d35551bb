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

namespace {

/// The rows [begin, begin + size) of x in one sweep.
struct Sweep {
  std::size_t begin;
  std::size_t size;
};

/// Divides n rows of x into as few sweeps as the kernels allow, of at most two sizes.
struct Sweeps {
  std::size_t count;
  std::size_t size;    ///< of the smaller sweeps
  std::size_t larger;  ///< number of sweeps, the first ones, with one more row

  Sweeps(std::size_t n, int largest)
      : count(div_up(n, static_cast<std::size_t>(largest))), size(n / count), larger(n % count) {}
  Sweep operator[](std::size_t i) const {
    return {i * size + std::min(i, larger), size + (i < larger ? 1 : 0)};
  }
  Sweep first() const { return (*this)[0]; }
  Sweep last() const { return (*this)[count - 1]; }
};

}  // namespace

/// Products of one x with matrices of one type, for which x is prepared once.
struct MatmulScratch::Run {
  std::span<const Product> products;
  Span2d<const float> x;
  Sweeps sweeps;
  std::size_t sweep_bytes = 0;     // per sweep of quantized x
  std::uint8_t* memory = nullptr;  // x in the kernels' layout

  const Matrix::Packed& first() const { return products.front().w.packed(); }
};

struct MatmulScratch::State {
  AlignedBytes bytes;
  std::size_t size = 0;
  std::vector<Run> runs;  // of the current call

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

using Run = MatmulScratch::Run;

/// Numbers quantized in about the time of a thread barrier.
constexpr std::size_t numbers_worth_sharing = 8192;

/// Bytes of weights that stay in a core's cache from one sweep to the next.
constexpr std::size_t cached_bytes = std::size_t{32} << 10;

PanelKernel kernel_for(const KernelSet& set, const Matrix::Packed& w, const Sweep& sweep) {
  return set.panel_kernel(w.type, w.cols, static_cast<int>(sweep.size));
}

/// Returns the bytes of the largest sweep of x, as blocks.
std::size_t largest_sweep_bytes(const KernelSet& set, const Matrix::Packed& w, const Sweeps& sweeps) {
  const auto bytes = [&](const Sweep& sweep) { return kernel_for(set, w, sweep).block.bytes(); };
  return ActivationBlock::count(w.cols) * std::max(bytes(sweeps.first()), bytes(sweeps.last()));
}

/// Returns the scratch bytes that a product with `rows` rows of x takes.
std::size_t scratch_bytes(const KernelSet& set, const Matrix::Packed& w, std::size_t rows) {
  if (!w.panels) return round_up(rows * w.cols * sizeof(float), std::size_t{64});
  const Sweeps sweeps(rows, set.largest_sweep(w.type, w.cols));
  return sweeps.count * largest_sweep_bytes(set, w, sweeps);
}

/// Interleaves four panels if the quarters of one are too close together to be separate memory streams. With
/// many rows, the L1 cache is needed for the current panel.
PanelOrder order_of_panels(const KernelSet& set, const PanelShape& shape, std::size_t rows) {
  if (rows <= 8 && 4 * shape.panel_bytes() <= set.interleaved_bytes) return PanelOrder::interleaved;
  return rows <= 4 ? set.fallback : PanelOrder::quarters;
}

/// Calls body(item, from, to) for the units [begin, end) of all items, in each item's own numbering.
template <class Item, class UnitsOf, class Body>
void split_units(std::span<Item> items, std::size_t begin, std::size_t end, const UnitsOf& units_of,
                 const Body& body) {
  std::size_t before = 0;  // units of the preceding items
  for (Item& item : items) {
    const std::size_t after = before + units_of(item);
    const std::size_t from = std::max(begin, before), to = std::min(end, after);
    if (from < to) body(item, from - before, to - before);
    before = after;
  }
}

/// Calls body(item, begin, end) for all units of all items: threads share them, at least `grain` at a time,
/// and synchronize once.
template <class Item, class UnitsOf, class Body>
void share_units(std::span<Item> items, std::size_t grain, ThreadPool& pool, const UnitsOf& units_of,
                 const Body& body) {
  std::size_t units = 0;
  for (const Item& item : items) units += units_of(item);
  pool.parallel_for(units, grain, [&](std::size_t begin, std::size_t end) {
    split_units(items, begin, end, units_of, body);
  });
}

/// Calls body(run, product, begin, end) for the units [begin, end), of `unit` rows of weights each, of all
/// products of all runs.
template <class Body>
void share_products(std::span<const Run> runs, std::size_t unit, ThreadPool& pool, const Body& body) {
  const auto of_product = [unit](const Product& product) { return div_up(product.w.rows(), unit); };
  const auto of_run = [&of_product](const Run& run) {
    std::size_t units = 0;
    for (const Product& product : run.products) units += of_product(product);
    return units;
  };
  share_units(runs, 1, pool, of_run, [&](const Run& run, std::size_t begin, std::size_t end) {
    split_units(
        run.products, begin, end, of_product,
        [&](const Product& product, std::size_t from, std::size_t to) { body(run, product, from, to); });
  });
}

std::size_t rows_of(std::span<const Run> runs) {
  std::size_t rows = 0;
  for (const Run& run : runs) rows += run.x.rows();
  return rows;
}

/// Quantizes each sweep of each x to blocks, at multiples of sweep_bytes in its memory.
void quantize(const KernelSet& set, std::span<const Run> runs, ThreadPool& pool) {
  // Threads share the columns, because the rows of a block are close enough for false sharing.
  constexpr std::size_t columns = ActivationBlock::columns, fewest = 128;  // minimum columns per task
  const std::size_t rows = div_up(rows_of(runs), runs.size());             // per run, on average
  const std::size_t grain = std::max(fewest, numbers_worth_sharing / rows) / columns;
  const auto blocks_of = [](const Run& run) { return ActivationBlock::count(run.x.cols()); };
  share_units(runs, grain, pool, blocks_of, [&set](const Run& run, std::size_t begin, std::size_t end) {
    const std::size_t from = begin * columns, to = std::min(end * columns, run.x.cols());
    for (std::size_t i = 0; i < run.sweeps.count; ++i) {
      const Sweep sweep = run.sweeps[i];
      const ActivationBlock block = kernel_for(set, run.first(), sweep).block;
      std::uint8_t* const blocks = run.memory + i * run.sweep_bytes + begin * block.bytes();
      for (std::size_t r = 0; r < sweep.size; ++r) {
        const auto share = run.x[sweep.begin + r].subspan(from, to - from);
        quantize_row(share, block, static_cast<int>(r), blocks);
      }
    }
  });
}

/// Multiplies panels [begin, end) of a product. Several sweeps use a panel while it is cached.
void multiply_panels(const KernelSet& set, const Run& run, const Product& product, std::size_t begin,
                     std::size_t end) {
  const Matrix::Packed& w = product.w.packed();
  const Sweeps& sweeps = run.sweeps;
  const std::size_t kept = std::max<std::size_t>(1, cached_bytes / w.shape.panel_bytes());
  const std::size_t panels = sweeps.count == 1 ? end - begin : kept;
  const PanelOrder order = order_of_panels(set, w.shape, run.x.rows());
  for (std::size_t p = begin; p < end; p += panels) {
    const std::size_t rows = std::min(std::min(panels, end - p) * panel_rows, w.rows - p * panel_rows);
    for (std::size_t i = 0; i < sweeps.count; ++i) {
      const Sweep sweep = sweeps[i];
      const PanelRun panel_run{w.shape, w.panel(p), rows, p, i == 0 ? w.panel_count() - p : 0, order};
      kernel_for(set, w, sweep)
          .multiply(panel_run, run.memory + i * run.sweep_bytes,
                    product.y[sweep.begin].data() + p * panel_rows, w.rows);
    }
  }
}

/// Computes products with quantized matrices.
void multiply_quantized(const KernelSet& set, std::span<const Run> runs, ThreadPool& pool) {
  quantize(set, runs, pool);
  share_products(runs, panel_rows, pool,
                 [&set](const Run& run, const Product& product, std::size_t begin, std::size_t end) {
                   multiply_panels(set, run, product, begin, end);
                 });
}

/// Rounds to BF16, ties to even. NaN stays NaN.
float round_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fff'ffffu) > 0x7f80'0000u) return x;
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

FloatKernel float_kernel_for(const KernelSet& set, TensorType type, const Sweep& sweep) {
  return set.float_kernel(type, static_cast<int>(sweep.size));
}

/// Returns true if kernels take the rows of x in their original layout.
bool as_they_are(const KernelSet& set, const Run& run) {
  const TensorType type = run.first().type;
  const auto takes = [&](const Sweep& s) { return float_kernel_for(set, type, s).lines.as_they_are(); };
  return type != TensorType::bf16 && takes(run.sweeps.first()) && takes(run.sweeps.last());
}

/// Arranges the rows of each sweep of x for its kernel, sweep by sweep, in the runs' memory.
void arrange_sweeps(const KernelSet& set, std::span<const Run> runs, ThreadPool& pool) {
  const auto sweeps_of = [&set](const Run& run) { return as_they_are(set, run) ? 0 : run.sweeps.count; };
  const Run& first = runs.front();
  const std::size_t grain = numbers_worth_sharing / (first.sweeps.first().size * first.x.cols()) + 1;
  share_units(runs, grain, pool, sweeps_of, [&set](const Run& run, std::size_t begin, std::size_t end) {
    const TensorType type = run.first().type;
    for (std::size_t i = begin; i < end; ++i) {
      const Sweep sweep = run.sweeps[i];
      const std::size_t cols = run.x.cols();
      auto* const lines = reinterpret_cast<float*>(run.memory) + sweep.begin * cols;
      arrange(run.x.rows(sweep.begin, sweep.size), float_kernel_for(set, type, sweep).lines, lines);
      // Other engines multiply BF16 by BF16; with unrounded activations the logits would differ from theirs.
      if (type == TensorType::bf16) std::transform(lines, lines + sweep.size * cols, lines, round_to_bf16);
    }
  });
}

/// Multiplies units [begin, end), of four rows each, of a product. Each iteration over the columns prefetches
/// its share of the next four rows.
void multiply_rows(const KernelSet& set, const Run& run, const Product& product, std::size_t begin,
                   std::size_t end) {
  const Matrix::Packed& w = product.w.packed();
  const Sweeps& sweeps = run.sweeps;
  const std::size_t width = w.type == TensorType::f32 ? 4 : 2, row_bytes = w.cols * width;
  const float* const lines =
      as_they_are(set, run) ? run.x.data() : reinterpret_cast<const float*>(run.memory);
  struct Task {
    FloatKernel kernel;
    std::size_t step_bytes;
  };
  const auto task_of = [&](const Sweep& sweep) -> Task {
    const FloatKernel kernel = float_kernel_for(set, w.type, sweep);
    return {kernel, FloatLines::sums * width / (sweeps.count * kernel.times)};
  };
  const Task larger = task_of(sweeps.first()), smaller = task_of(sweeps.last());
  const std::size_t sweep_share = row_bytes / sweeps.count;
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
      task.kernel.multiply(rows, lines + sweep.begin * w.cols, product.y[sweep.begin].data() + row, w.rows);
    }
  }
}

/// Computes products with floating-point matrices.
void multiply_plain(const KernelSet& set, std::span<const Run> runs, ThreadPool& pool) {
  arrange_sweeps(set, runs, pool);
  share_products(runs, 4, pool,
                 [&set](const Run& run, const Product& product, std::size_t begin, std::size_t end) {
                   multiply_rows(set, run, product, begin, end);
                 });
}

/// Appends the products of a group as runs of one type each: those with quantized matrices, or the others.
void add_runs(const KernelSet& set, const ProductGroup& group, bool quantized, std::vector<Run>& runs) {
  if (group.x.rows() == 0) return;
  std::span<const Product> left = group.products;
  while (!left.empty()) {
    const Matrix::Packed& w = left.front().w.packed();
    const auto other = std::ranges::find_if(left, [&w](const Product& p) { return p.w.type() != w.type; });
    const auto alike = static_cast<std::size_t>(other - left.begin());
    const std::span<const Product> products = left.first(alike);
    left = left.subspan(alike);
    if ((w.panels != nullptr) != quantized) continue;
    const int largest = w.panels ? set.largest_sweep(w.type, w.cols) : set.largest_float_sweep;
    Run run{products, group.x, Sweeps(group.x.rows(), largest)};
    if (w.panels) run.sweep_bytes = largest_sweep_bytes(set, w, run.sweeps);
    runs.push_back(run);
  }
}

}  // namespace

void MatmulScratch::reserve(const Matrix& w, std::size_t max_rows, std::size_t max_groups) {
  const KernelSet& set = kernels_of(available_levels().back());
  std::size_t largest = 0, of_a_row = 0;
  for (std::size_t rows = 1; rows <= max_rows; ++rows) {
    const std::size_t needed = scratch_bytes(set, w.packed(), rows);
    largest = std::max(largest, needed);
    of_a_row = std::max(of_a_row, div_up(needed, rows));
  }
  state_->at_least(max_groups == 1 ? largest : max_rows * of_a_row);
  state_->runs.reserve(3 * max_groups);
}

void matmul_at(KernelLevel level, std::span<const ProductGroup> groups, ThreadPool& pool,
               MatmulScratch& scratch) {
  const KernelSet& set = kernels_of(level);
  std::vector<Run>& runs = scratch.state().runs;
  runs.clear();
  for (const ProductGroup& group : groups) {
    for (const auto& [w, y] : group.products) {
      SPECTR_CHECK(group.x.cols() == w.cols() && y.cols() == w.rows() && group.x.rows() == y.rows());
    }
    add_runs(set, group, true, runs);
  }
  const std::size_t quantized = runs.size();
  for (const ProductGroup& group : groups) add_runs(set, group, false, runs);
  std::size_t needed = 0;
  for (const Run& run : runs) needed += scratch_bytes(set, run.first(), run.x.rows());
  std::uint8_t* memory = scratch.state().at_least(needed);
  for (Run& run : runs) {
    run.memory = memory;
    memory += scratch_bytes(set, run.first(), run.x.rows());
  }
  const std::span<const Run> all = runs;
  if (quantized > 0) multiply_quantized(set, all.first(quantized), pool);
  if (quantized < all.size()) multiply_plain(set, all.subspan(quantized), pool);
}

void matmul_at(KernelLevel level, std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
               MatmulScratch& scratch) {
  const ProductGroup group{products, x};
  matmul_at(level, {&group, 1}, pool, scratch);
}

void matmul(std::span<const ProductGroup> groups, ThreadPool& pool, MatmulScratch& scratch) {
  matmul_at(available_levels().back(), groups, pool, scratch);
}

void matmul(std::span<const Product> products, Span2d<const float> x, ThreadPool& pool,
            MatmulScratch& scratch) {
  matmul_at(available_levels().back(), products, x, pool, scratch);
}

}  // namespace spectr
