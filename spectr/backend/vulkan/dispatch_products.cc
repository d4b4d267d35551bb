#include <algorithm>
#include <bit>

#include "spectr/backend/vulkan/lowering.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr::vulkan {
namespace {

/// Requires: has_device_layout(type).
Kernel product_of(TensorType type) {
  switch (type) {
    case TensorType::q8_0:
      return Kernel::product_q8_0;
    case TensorType::q5_0:
      return Kernel::product_q5_0;
    case TensorType::q4_0:
      return Kernel::product_q4_0;
    case TensorType::q6_k:
      return Kernel::product_q6_k;
    case TensorType::q5_k:
      return Kernel::product_q5_k;
    case TensorType::q4_k:
      return Kernel::product_q4_k;
    default:
      broken_contract("a format with panels");
  }
}

/// Rows of x that a group has, up to 8: few pipelines, and hardly a row too many.
std::size_t rows_together(std::size_t n) {
  return std::bit_ceil(std::min<std::size_t>(n, 8));
}

}  // namespace

/// How many rows of W have `bytes` each fit into a binding, in whole panels.
std::size_t Lowering::rows_at_once(std::size_t rows, std::size_t bytes) const {
  const std::size_t fit = (limits_.bytes - std::min(limits_.bytes, limits_.alignment)) / bytes / 16;
  return std::min({rows, std::max<std::size_t>(fit, 1) * 16, most_groups * 16});
}

/// With a slab of x.
void Lowering::add_product(const call::Product& c, std::size_t slab, const Heads& heads) {
  const call::Weights& w = c.weights;
  const QuantizedLayout& layout = c.x.layout;
  const std::size_t blocks = layout.blocks(), n = layout.rows_of(slab), together = rows_together(n);
  const auto bits = static_cast<std::size_t>(quant_layout(w.type)->bits());
  const std::size_t codes = blocks * 128 * bits;  // of a panel
  const std::size_t scales = blocks * 16 * word, factors = w.factors ? blocks / 4 * 16 * word : 0;
  const std::size_t at_once = heads.count > 1 ? w.rows : rows_at_once(w.rows, codes / 16);
  const std::size_t x_behind = heads.behind(heads.x_apart);
  for (std::size_t row = 0; row < w.rows; row += at_once) {
    const std::size_t rows = std::min(at_once, w.rows - row), panel = row / 16, panels = div_up(rows, 16);
    const std::size_t all = heads.count * panels;
    begin(product_of(w.type));
    dispatches_.back().constants = {as_uint(together)};
    const std::size_t first = slab * QuantizedLayout::slab_rows;
    const std::uint32_t x_scales =
        reads(4, c.x.at.behind(layout.scales_of(slab)), x_behind + blocks * layout.tiles() * 128);
    end({reads(0, w.codes.behind(panel * codes), all * codes, 16),
         reads(1, w.scales.behind(panel * scales), all * scales),
         w.factors ? reads(2, w.factors.behind(panel * factors), all * factors) : 0,
         reads(3, c.x.at.behind(layout.codes_of(slab)), x_behind + blocks * layout.tiles() * 512, 16),
         x_scales, x_scales + as_uint((layout.sums_of(slab) - layout.scales_of(slab)) / word),
         as_uint(layout.tiles()), as_uint(rows), as_uint(blocks), as_uint(n),
         writes(5, c.y.at.behind((first * c.y.stride + row) * word),
                heads.behind(heads.y_apart) + numbers_of(n, rows, c.y.stride) * word),
         as_uint(c.y.stride), as_uint(panels), as_uint(heads.x_apart / 16), as_uint(heads.y_apart / word)},
        div_up(n, together), all);
  }
}

void Lowering::operator()(const call::Product& c) {
  for (std::size_t slab = 0; slab < c.x.layout.slabs(); ++slab) add_product(c, slab, {});
}

void Lowering::add_float_product(const call::FloatProduct& c, const Heads& heads) {
  const call::Weights& w = c.weights;
  const std::size_t together = rows_together(c.rows);
  const std::size_t bytes = w.type == TensorType::f32 ? 4 : 2;
  const std::size_t at_once = heads.count > 1 ? w.rows : rows_at_once(w.rows, w.cols * bytes);
  for (std::size_t row = 0; row < w.rows; row += at_once) {
    const std::size_t rows = std::min(at_once, w.rows - row), panels = div_up(rows, 16);
    begin(Kernel::float_product);
    dispatches_.back().constants = {as_uint(together)};
    end({reads(0, w.codes.behind(row * w.cols * bytes), heads.count * rows * w.cols * bytes, bytes),
         reads(1, c.x.at, heads.behind(heads.x_apart) + numbers_of(c.rows, w.cols, c.x.stride) * word),
         as_uint(c.x.stride), as_uint(rows), as_uint(w.cols), as_uint(c.rows),
         w.type == TensorType::f32   ? 0u
         : w.type == TensorType::f16 ? 1u
                                     : 2u,
         writes(2, c.y.at.behind(row * word),
                heads.behind(heads.y_apart) + numbers_of(c.rows, rows, c.y.stride) * word),
         as_uint(c.y.stride), as_uint(panels), as_uint(heads.x_apart / word), as_uint(heads.y_apart / word)},
        div_up(c.rows, together), heads.count * panels);
  }
}

void Lowering::operator()(const call::FloatProduct& c) {
  add_float_product(c, {});
}

void Lowering::operator()(const call::HeadProducts& c) {
  const Heads heads{c.heads, c.x_apart(), c.y_apart};
  for (std::size_t slab = 0; slab < c.first.x.layout.slabs(); ++slab) add_product(c.first, slab, heads);
}

void Lowering::operator()(const call::FloatHeadProducts& c) {
  add_float_product(c.first, {c.heads, c.x_apart, c.y_apart});
}

}  // namespace spectr::vulkan
