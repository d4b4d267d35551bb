#include <algorithm>
#include <bit>
#include <optional>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/backend/vulkan/lowering.h"

namespace spectr::vulkan {
namespace {

constexpr std::size_t min_rows_for_matrices = 3;

/// A work group of matrix_product.comp: rows of x, and as many subgroups as shared memory has room for.
struct MatrixGroup {
  std::size_t rows;
  std::uint32_t subgroups;
};

/// Returns none for few rows, and if the device or the build does not support cooperative matrices.
std::optional<MatrixGroup> matrix_group(const DispatchLimits& limits, const PanelFormat& format,
                                        std::size_t n) {
  if (n < min_rows_for_matrices || !limits.matrices || code_of(Kernel::matrix_product).words.empty())
    return std::nullopt;
  const Matrices& matrices = *limits.matrices;
  const bool is_spread = format.scales >= PanelScales::small_of_16 && matrices.depth > 16;
  const std::size_t rows = n <= 8 ? 8 : 16, x_rows = std::max<std::size_t>(rows, matrices.columns);
  // Words per subgroup: w_bytes, x_bytes and products, totals.
  const std::size_t words = 16 * (is_spread ? 36 : 20) + x_rows * (20 + 16) + rows * 16;
  std::uint32_t subgroups = std::min(8u, 256 / matrices.subgroup);
  while (subgroups > 0 && subgroups * words * word > limits.shared_bytes) subgroups /= 2;
  if (subgroups == 0) return std::nullopt;
  return MatrixGroup{rows, subgroups};
}

/// Returns the rows of x per work group, a power of two up to 8: few pipelines, and little padding.
std::size_t rows_together(std::size_t n) {
  return std::bit_ceil(std::min<std::size_t>(n, 8));
}

/// Returns the first constants of panel product kernels: rows of x, then those of panels.glsl.
std::vector<std::uint32_t> constants_of(std::size_t together, const PanelFormat& format) {
  const auto& table = format.table;
  const auto as_constant = [](auto value) { return static_cast<std::uint32_t>(value); };
  return {as_uint(together),
          as_constant(format.bits),
          as_constant(format.offset),
          format.has_table ? 1U : 0U,
          table[0],
          table[1],
          table[2],
          table[3],
          as_constant(format.scales)};
}

}  // namespace

/// Returns how many rows of W with `bytes` bytes each fit into a binding, in whole panels.
std::size_t Lowering::rows_at_once(std::size_t rows, std::size_t bytes) const {
  const std::size_t fit = (limits_.bytes - std::min(limits_.bytes, limits_.alignment)) / bytes / 16;
  return std::min({rows, std::max<std::size_t>(fit, 1) * 16, max_groups * 16});
}

/// Begins a product with `n` rows of x.
void Lowering::begin_product(TensorType type, std::size_t n, bool of_experts) {
  begin(Kernel::panel_product);
  std::vector<std::uint32_t>& constants = dispatches_.back().constants;
  constants = constants_of(rows_together(n), panel_format(type));
  constants.push_back(of_experts ? 1 : 0);
}
void Lowering::begin_float_product(std::size_t n, bool of_experts) {
  begin(Kernel::float_product);
  dispatches_.back().constants = {as_uint(rows_together(n)), of_experts ? 1u : 0u};
}

/// Adds a product with one slab of x.
void Lowering::add_product(const call::Product& c, const call::Product::Target& target, std::size_t slab,
                           const Heads& heads) {
  const call::Weights& w = target.weights;
  const call::Rows& y = target.y;
  const QuantizedLayout& layout = c.x.layout;
  const std::size_t blocks = layout.blocks(), n = layout.rows_of(slab);
  const PanelFormat format = panel_format(w.type);
  const std::optional<MatrixGroup> group = matrix_group(limits_, format, n);
  const std::size_t together = group ? group->rows : rows_together(n);
  const PanelLayout panel_of(w.type, WeightPanels::panel_rows, w.cols);
  const std::size_t codes = panel_of.code_bytes, scales = panel_of.scale_bytes,
                    factors = panel_of.factor_bytes;
  const std::size_t at_once = heads.count > 1 ? w.rows : rows_at_once(w.rows, codes / 16);
  const std::size_t x_behind = heads.behind(heads.x_head_stride);
  for (std::size_t row = 0; row < w.rows; row += at_once) {
    const std::size_t rows = std::min(at_once, w.rows - row), panel = row / 16, panels = div_up(rows, 16);
    const std::size_t all = heads.count * panels;
    if (group) {
      begin(Kernel::matrix_product);
      const auto& [height, width, depth, subgroup] = *limits_.matrices;
      Dispatch& dispatch = dispatches_.back();
      dispatch.constants = constants_of(group->rows, format);
      dispatch.constants.insert(dispatch.constants.end(), {height, width, depth, subgroup, group->subgroups,
                                                           subgroup * group->subgroups});
      dispatch.subgroup = subgroup;
    } else {
      begin_product(w.type, n, false);
    }
    const std::size_t first = slab * QuantizedLayout::slab_rows;
    end({reads(0, w.codes.behind(panel * codes), all * codes, 16),
         reads(1, w.scales.behind(panel * scales), all * scales),
         w.factors ? reads(2, w.factors.behind(panel * factors), all * factors) : 0,
         reads(3, c.x.at.behind(layout.codes_of(slab)), x_behind + blocks * layout.tiles() * 512, 16),
         reads(4, c.x.at.behind(layout.scales_of(slab)), x_behind + blocks * layout.tiles() * 128),
         as_uint(layout.tiles()), as_uint(rows), as_uint(blocks), as_uint(n),
         writes(5, y.at.behind((first * y.stride + row) * word),
                heads.behind(heads.y_head_stride) + numbers_of(n, rows, y.stride) * word),
         as_uint(y.stride), as_uint(panels), as_uint(heads.x_head_stride / 16),
         as_uint(heads.y_head_stride / word)},
        div_up(n, together), all);
  }
}

void Lowering::operator()(const call::Product& c) {
  for (const call::Product::Target& target : c.targets) {
    for (std::size_t slab = 0; slab < c.x.layout.slabs(); ++slab) add_product(c, target, slab, {});
  }
}

void Lowering::add_float_product(const call::FloatProduct& c, const Heads& heads) {
  const call::Weights& w = c.weights;
  const std::size_t together = rows_together(c.rows);
  const std::size_t bytes = w.type == TensorType::f32 ? 4 : 2;
  const std::size_t at_once = heads.count > 1 ? w.rows : rows_at_once(w.rows, w.cols * bytes);
  for (std::size_t row = 0; row < w.rows; row += at_once) {
    const std::size_t rows = std::min(at_once, w.rows - row), panels = div_up(rows, 16);
    begin_float_product(c.rows, false);
    end({reads(0, w.codes.behind(row * w.cols * bytes), heads.count * rows * w.cols * bytes, bytes),
         reads(1, c.x.at, heads.behind(heads.x_head_stride) + numbers_of(c.rows, w.cols, c.x.stride) * word),
         as_uint(c.x.stride), as_uint(rows), as_uint(w.cols), as_uint(c.rows), kind_of(w.type),
         writes(2, c.y.at.behind(row * word),
                heads.behind(heads.y_head_stride) + numbers_of(c.rows, rows, c.y.stride) * word),
         as_uint(c.y.stride), as_uint(panels), as_uint(heads.x_head_stride / word),
         as_uint(heads.y_head_stride / word)},
        div_up(c.rows, together), heads.count * panels);
  }
}

void Lowering::operator()(const call::FloatProduct& c) {
  add_float_product(c, {});
}

void Lowering::operator()(const call::HeadProducts& c) {
  const Heads heads{c.heads, c.x_head_stride(), c.y_head_stride};
  for (std::size_t slab = 0; slab < c.first.x.layout.slabs(); ++slab)
    add_product(c.first, c.first.targets.front(), slab, heads);
}

void Lowering::operator()(const call::FloatHeadProducts& c) {
  add_float_product(c.first, {c.heads, c.x_head_stride, c.y_head_stride});
}

}  // namespace spectr::vulkan
