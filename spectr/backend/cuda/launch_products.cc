#include <fmt/format.h>

#include <optional>

#include "spectr/backend/cuda/lowering.h"
#include "spectr/backend/cuda/plan_trial.h"
#include "spectr/backend/cuda/product_plan.h"
#include "spectr/backend/device/weights/weight_panels.h"

namespace spectr::cuda {
namespace {

/// Returns the number of rows of x per thread block; panel_product.cuh has kernels for 1 and 4.
std::size_t rows_together(std::size_t rows) {
  return rows == 1 ? 1 : 4;
}

}  // namespace

bool Lowering::add_planned_product(const call::Product& c) {
  const std::optional<ProductPlan> plan = plans_.of(sizes_of(c));
  if (!plan) return false;
  const QuantizedLayout& layout = c.x.layout;
  const TensorType type = c.targets.front().weights.type;
  const QuantizedRows x = quantized(c.x);
  const auto& table = panel_format(type).table;
  Product p{.w = {},
            .x = x.codes,
            .x_scales = x.scales,
            .x_sums = x.sums,
            .table = {table[0], table[1], table[2], table[3]},
            .panels = 0,
            .blocks = as_int(layout.blocks()),
            .n = as_int(c.rows),
            .slabs = as_int(layout.slabs()),
            .slab = x.slab,
            .ring = plan->ring};
  for (std::size_t i = 0; i < c.targets.size(); ++i) {
    const auto& [weights, y] = c.targets[i];
    p.w[i] = {.codes = at<const std::uint8_t>(weights.codes),
              .scales = at<const std::uint32_t>(weights.scales),
              .factors = at<const std::uint32_t>(weights.factors),
              .y = written(y).at,
              .stride = as_long(y.stride),
              .rows = as_int(weights.rows),
              .first = p.panels};
    p.panels += as_int(div_up(weights.rows, WeightPanels::panel_rows));
    if (plan->shape.parts() > 1) parts_[y.at.memory] = {plan->shape.parts(), c.rows * y.stride};
  }
  for (std::size_t i = c.targets.size(); i < std::size(p.w); ++i) p.w[i].first = p.panels;
  add(kernel_of(type, plan->shape), static_cast<std::size_t>(plan->groups), 1, 32 * plan->shape.warps, p,
      plan->shared_bytes);
  launches_.back().image = image_of(type, plans_.device().copies);
  return true;
}

Panels Lowering::panels(const call::Weights& weights) const {
  return {at<const std::uint8_t>(weights.codes), at<const std::uint32_t>(weights.scales),
          at<const std::uint32_t>(weights.factors), panel_format(weights.type)};
}

AnyProduct Lowering::any_product(const call::Product& c, const call::Product::Target& target) {
  return {.w = panels(target.weights),
          .x = quantized(c.x),
          .y = written(target.y),
          .rows = as_int(target.weights.rows),
          .blocks = as_int(c.x.layout.blocks()),
          .n = as_int(c.rows)};
}

void Lowering::add_any_product(const call::Product& c) {
  const std::size_t together = rows_together(c.rows);
  for (const call::Product::Target& target : c.targets) {
    add(fmt::format("any_product_{}", together), div_up(target.weights.rows, WeightPanels::panel_rows),
        div_up(c.rows, together), 512, any_product(c, target));
  }
}

void Lowering::operator()(const call::Product& c) {
  if (!add_planned_product(c)) add_any_product(c);
}

FloatProduct Lowering::float_product(const call::Weights& weights, const call::Rows& x, const call::Rows& y) {
  return {.weights = at<const std::uint8_t>(weights.codes),
          .x = matrix(x),
          .y = written(y),
          .rows = as_int(weights.rows),
          .cols = as_int(weights.cols),
          .kind = weights.type == TensorType::f32   ? 0
                  : weights.type == TensorType::f16 ? 1
                                                    : 2};
}

void Lowering::operator()(const call::FloatProduct& c) {
  add("float_product", div_up(c.weights.rows, 4), c.rows, 128, float_product(c.weights, c.x, c.y));
}

void Lowering::operator()(const call::QuantizeHeads& c) {
  const call::Quantize& of = c.first;
  const std::size_t groups = div_up(of.cols, 512);
  const QuantizeHeads p{{matrix(of.in), as_int(of.cols), quantized(of.quantized)},
                        as_int(groups),
                        as_long(c.in_head_stride / sizeof(float)),
                        as_long(c.out_head_stride())};
  add("quantize_heads", of.rows, c.heads * groups, 128, p);
}

void Lowering::operator()(const call::HeadProducts& c) {
  const call::Product::Target& target = c.first.targets.front();
  const call::Weights& w = target.weights;
  const PanelLayout layout(w.type, w.rows, w.cols);
  const std::size_t groups = div_up(w.rows, WeightPanels::panel_rows), together = rows_together(c.first.rows);
  const HeadProducts p{.first = any_product(c.first, target),
                       .groups = as_int(groups),
                       .codes_head_stride = as_long(layout.code_bytes),
                       .scales_head_stride = as_long(layout.scale_bytes),
                       .factors_head_stride = as_long(layout.factor_bytes),
                       .x_head_stride = as_long(c.x_head_stride()),
                       .y_head_stride = as_long(c.y_head_stride / sizeof(float))};
  add(fmt::format("head_products_{}", together), c.heads * groups, div_up(c.first.rows, together), 512, p);
}

void Lowering::operator()(const call::FloatHeadProducts& c) {
  const call::Weights& w = c.first.weights;
  const std::size_t groups = div_up(w.rows, 4), bytes = w.type == TensorType::f32 ? 4 : 2;
  const FloatHeadProducts p{.first = float_product(c.first.weights, c.first.x, c.first.y),
                            .groups = as_int(groups),
                            .weights_head_stride = as_long(w.rows * w.cols * bytes),
                            .x_head_stride = as_long(c.x_head_stride / sizeof(float)),
                            .y_head_stride = as_long(c.y_head_stride / sizeof(float))};
  add("float_head_products", c.heads * groups, c.first.rows, 128, p);
}

}  // namespace spectr::cuda
