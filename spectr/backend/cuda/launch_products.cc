#include <optional>

#include "spectr/backend/cuda/lowering.h"
#include "spectr/backend/cuda/product_plan.h"
#include "spectr/backend/device/weight_panels.h"

namespace spectr::cuda {

bool Lowering::add_product(const call::Product& c, std::size_t slab) {
  const QuantizedLayout& layout = c.x.layout;
  const int tiles = as_int(layout.tiles()), blocks = as_int(layout.blocks()), rows = as_int(c.weights.rows);
  const std::optional<WholeProduct> plan = whole_product(c.weights.type, rows, blocks, tiles, processors_);
  if (!plan) return false;
  const QuantizedRows x = quantized(c.x);
  const auto& table = panel_format(c.weights.type).table;
  const std::size_t bytes = slab * layout.codes_of(1);
  const Product p{.codes = at<const std::uint8_t>(c.weights.codes),
                  .scales = at<const std::uint32_t>(c.weights.scales),
                  .factors = at<const std::uint32_t>(c.weights.factors),
                  .x = x.codes + bytes,
                  .x_scales = x.scales + bytes / sizeof(float),
                  .x_sums = x.sums + bytes / sizeof(float),
                  .table = {table[0], table[1], table[2], table[3]},
                  .y = at<float>(c.y.at) + slab * QuantizedLayout::slab_rows * c.y.stride,
                  .stride = as_long(c.y.stride),
                  .rows = rows,
                  .blocks = blocks,
                  .n = as_int(layout.rows_of(slab)),
                  .ring = plan->ring,
                  .late = false};
  add(plan->kernel, static_cast<std::size_t>(plan->groups), 1, plan->threads, p, plan->shared_bytes);
  launches_.back().image = plan->image;
  return true;
}

Panels Lowering::panels(const call::Weights& weights) const {
  return {at<const std::uint8_t>(weights.codes), at<const std::uint32_t>(weights.scales),
          at<const std::uint32_t>(weights.factors), panel_format(weights.type)};
}

void Lowering::add_any_product(const call::Product& c) {
  const AnyProduct p{.w = panels(c.weights),
                     .x = quantized(c.x),
                     .y = matrix(c.y),
                     .rows = as_int(c.weights.rows),
                     .blocks = as_int(c.x.layout.blocks())};
  add("any_product", div_up(c.weights.rows, 4), c.rows, 128, p);
}

void Lowering::operator()(const call::Product& c) {
  const QuantizedLayout& layout = c.x.layout;
  for (std::size_t slab = 0; slab < layout.slabs(); ++slab) {
    if (!add_product(c, slab)) return add_any_product(c);
  }
}

FloatProduct Lowering::float_product(const call::Weights& weights, const call::Rows& x,
                                     const call::Rows& y) const {
  return {.weights = at<const std::uint8_t>(weights.codes),
          .x = matrix(x),
          .y = matrix(y),
          .rows = as_int(weights.rows),
          .cols = as_int(weights.cols),
          .kind = weights.type == TensorType::f32   ? 0
                  : weights.type == TensorType::f16 ? 1
                                                    : 2};
}

void Lowering::operator()(const call::FloatProduct& c) {
  add("float_product", div_up(c.weights.rows, 4), c.rows, 128, float_product(c.weights, c.x, c.y));
}

}  // namespace spectr::cuda
