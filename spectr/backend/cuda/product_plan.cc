#include "spectr/backend/cuda/product_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include "spectr/backend/cuda/kernels/product_list.h"
#include "spectr/base/check.h"
#include "spectr/gguf/quant/quant_layout.h"

namespace spectr::cuda {
namespace {

#define SPECTR_SHAPE(tiles, sharers, warps, segments, one_run, ...) \
  ProductShape{tiles, sharers, warps, segments, one_run},
constexpr std::array shapes = {SPECTR_SHAPES(SPECTR_SHAPE)};
#undef SPECTR_SHAPE

constexpr int longest_ring = 3, reserved = 1024;  // bytes that the system takes of each group's

/// Whether a group may have so much of a processor's shared memory, among `per_processor` ones.
bool fits(int bytes, int per_processor, const Processors& device) {
  return (bytes + reserved) * per_processor <= device.shared_bytes;
}

FormatBytes panel_bytes(TensorType type) {
  const QuantLayout layout = *quant_layout(type);
  return {
      .codes = 128 * layout.bits(), .factors = layout.scale_bytes > 0 ? 64 : 0, .has_min = layout.has_min};
}

/// How unlike the plan is what won on an H100 where that was measured, the most important first: parts by how
/// many panels a processor has, few warps for few panels, two groups a processor but for wide x, a ring of
/// two.
auto distance(const ProductPlan& plan, const ProductSizes& sizes, const Processors& device) {
  const int panels = sizes.panels / std::max(device.count, 1);
  const int parts = !sizes.may_split || panels >= 12 ? 1 : panels >= 4 ? 2 : 4;
  const int warps = plan.shape.x_tiles() >= 8 ? 16 : panels >= 4 || sizes.tiles >= 2 ? 8 : 4;
  const int groups = device.count * (plan.shape.x_tiles() >= 8 ? 1 : 2);
  return std::tuple(std::abs(plan.shape.parts() - parts), std::abs(plan.shape.warps - warps),
                    std::abs(plan.groups - groups), plan.shape.sharers, std::abs(plan.ring - 2));
}

}  // namespace

std::span<const ProductShape> product_shapes() {
  return shapes;
}

std::vector<ProductPlan> product_plans(const ProductSizes& sizes, const Processors& device) {
  SPECTR_CHECK(sizes.tiles >= 1 && sizes.tiles <= 8);
  const FormatBytes format = panel_bytes(sizes.type);
  std::vector<ProductPlan> plans;
  for (const ProductShape& shape : shapes) {
    if (shape.x_tiles() != sizes.tiles || shape.one_run != (sizes.blocks <= 32)) continue;
    if (!sizes.may_split && shape.parts() > 1) continue;
    for (const int per_processor : {1, 2}) {
      const int groups = device.count * per_processor / shape.parts() * shape.parts();
      if (groups == 0) continue;
      const int panels = most_panels(shape, sizes.panels, groups), lanes = shape.lanes();
      const int to_do = (panels + lanes - 1) / lanes * shape.stretches();
      for (int ring = 1; ring <= longest_ring && ring <= to_do; ++ring) {
        const int bytes = product_memory(shape, format, sizes.panels, sizes.blocks, groups, ring).bytes();
        if (fits(bytes, per_processor, device)) plans.push_back({shape, groups, ring, bytes, false});
      }
    }
  }
  std::ranges::stable_sort(plans, {}, [&](const ProductPlan& plan) { return distance(plan, sizes, device); });
  return plans;
}

std::optional<ProductPlan> ProductPlans::of(const ProductSizes& sizes) const {
  if (const auto found = chosen_.find(sizes); found != chosen_.end()) return found->second;
  const std::vector<ProductPlan> plans = product_plans(sizes, device_);
  return plans.empty() ? std::nullopt : std::optional(plans.front());
}

std::string name_of_format(TensorType type) {
  std::string name(format_of(type).name);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::string kernel_of(TensorType type, const ProductShape& shape) {
  return fmt::format("product_{}_{}_{}_{}_{}_{}", name_of_format(type), shape.tiles, shape.sharers,
                     shape.warps, shape.segments, shape.one_run ? "short_run" : "long_run");
}

}  // namespace spectr::cuda
