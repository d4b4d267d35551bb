#include <optional>

#include "spectr/backend/cuda/lowering.h"
#include "spectr/backend/cuda/product_plan.h"
#include "spectr/backend/device/weight_panels.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr::cuda {

bool Lowering::add_product(const call::Product& c, std::size_t slab) {
  const QuantizedLayout& layout = c.x.layout;
  const int tiles = as_int(layout.tiles()), blocks = as_int(layout.blocks()), rows = as_int(c.weights.rows);
  const std::optional<WholeProduct> plan = whole_product(c.weights.type, rows, blocks, tiles, processors_);
  if (!plan) return false;
  const QuantizedRows x = quantized(c.x);
  const std::size_t bytes = slab * layout.codes_of(1);
  const Product p{.codes = at<const std::uint8_t>(c.weights.codes),
                  .scales = at<const std::uint32_t>(c.weights.scales),
                  .factors = at<const std::uint32_t>(c.weights.factors),
                  .x = x.codes + bytes,
                  .x_scales = x.scales + bytes / sizeof(float),
                  .x_sums = x.sums + bytes / sizeof(float),
                  .y = at<float>(c.y.at) + slab * QuantizedLayout::slab_rows * c.y.stride,
                  .stride = as_long(c.y.stride),
                  .rows = rows,
                  .blocks = blocks,
                  .n = as_int(layout.rows_of(slab)),
                  .ring = plan->ring,
                  .late = false};
  add(plan->kernel, static_cast<std::size_t>(plan->groups), 1, plan->threads, p, plan->shared_bytes);
  return true;
}

AnyProduct Lowering::any_product(const call::Product& c) const {
  const QuantLayout format = *quant_layout(c.weights.type);
  return {.codes = at<const std::uint8_t>(c.weights.codes),
          .scales = at<const std::uint32_t>(c.weights.scales),
          .factors = at<const std::uint32_t>(c.weights.factors),
          .x = quantized(c.x),
          .y = matrix(c.y),
          .rows = as_int(c.weights.rows),
          .blocks = as_int(c.x.layout.blocks()),
          .bits = format.bits(),
          .offset = format.offset,
          .has_small_scales = format.scale_bytes > 0,
          .has_min = format.has_min};
}

void Lowering::add_any_product(const call::Product& c) {
  add("any_product", div_up(c.weights.rows, 4), c.rows, 128, any_product(c));
}

void Lowering::operator()(const call::Product& c) {
  const QuantizedLayout& layout = c.x.layout;
  for (std::size_t slab = 0; slab < layout.slabs(); ++slab) {
    if (!add_product(c, slab)) return add_any_product(c);
  }
}

FloatProduct Lowering::float_product(const call::FloatProduct& c) const {
  const TensorType type = c.weights.type;
  return {.weights = at<const std::uint8_t>(c.weights.codes),
          .x = matrix(c.x),
          .y = matrix(c.y),
          .rows = as_int(c.weights.rows),
          .cols = as_int(c.weights.cols),
          .kind = type == TensorType::f32   ? 0
                  : type == TensorType::f16 ? 1
                                            : 2};
}

void Lowering::operator()(const call::FloatProduct& c) {
  add("float_product", div_up(c.weights.rows, 4), c.rows, 128, float_product(c));
}

void Lowering::operator()(const call::QuantizeHeads& c) {
  const call::Quantize& of = c.first;
  const std::size_t groups = div_up(of.cols, 512);
  const QuantizeHeads p{{matrix(of.in), as_int(of.cols), quantized(of.quantized)},
                        as_int(groups),
                        as_long(c.in_apart / sizeof(float)),
                        as_long(c.out_apart())};
  add("quantize_heads", of.rows, c.heads * groups, 128, p);
}

void Lowering::operator()(const call::HeadProducts& c) {
  const call::Weights& w = c.first.weights;
  const PanelLayout layout(w.type, w.rows, w.cols);
  const std::size_t groups = div_up(w.rows, 4);
  const HeadProducts p{.first = any_product(c.first),
                       .groups = as_int(groups),
                       .codes_apart = as_long(layout.code_bytes),
                       .scales_apart = as_long(layout.scale_bytes),
                       .factors_apart = as_long(layout.factor_bytes),
                       .x_apart = as_long(c.x_apart()),
                       .y_apart = as_long(c.y_apart / sizeof(float))};
  add("head_products", c.heads * groups, c.first.rows, 128, p);
}

void Lowering::operator()(const call::FloatHeadProducts& c) {
  const call::Weights& w = c.first.weights;
  const std::size_t groups = div_up(w.rows, 4), bytes = w.type == TensorType::f32 ? 4 : 2;
  const FloatHeadProducts p{.first = float_product(c.first),
                            .groups = as_int(groups),
                            .weights_apart = as_long(w.rows * w.cols * bytes),
                            .x_apart = as_long(c.x_apart / sizeof(float)),
                            .y_apart = as_long(c.y_apart / sizeof(float))};
  add("float_head_products", c.heads * groups, c.first.rows, 128, p);
}

}  // namespace spectr::cuda
