#include "spectr/backend/cuda/product_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include "spectr/backend/cuda/kernels/shape_list.h"
#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/base/check.h"

namespace spectr::cuda {
namespace {

#define SPECTR_SHAPE(tiles, sharers, warps, segments, columns, ...) \
  ProductShape{tiles, sharers, warps, segments, Columns::columns},
constexpr std::array shapes_by_threads = {SPECTR_SHAPES_BY_THREADS(SPECTR_SHAPE, none)};
constexpr std::array shapes_of_experts = {SPECTR_SHAPES_OF_EXPERTS(SPECTR_SHAPE, none)};
constexpr std::array some_shapes = {SPECTR_SHAPES_SOME(SPECTR_SHAPE, none)};
constexpr std::array all_shapes = {SPECTR_SHAPES_ALL(SPECTR_SHAPE, none)};
#undef SPECTR_SHAPE

/// A line of product_list.cuh.
struct Listed {
  std::string_view image;
  bool has_all_shapes;
};
constexpr bool ALL = true, SOME = false;  // NOLINT(readability-identifier-naming): as in the list
constexpr Listed listed[] = {
#define SPECTR_PRODUCTS(name, Format, shapes) {#name, shapes},
#include "spectr/backend/cuda/kernels/product_list.cuh"
#undef SPECTR_PRODUCTS
};

constexpr int longest_ring = 3, reserved = 1024;  // bytes that the driver reserves per thread block

/// Returns true if `per_processor` thread blocks with `bytes` of shared memory each fit on an SM.
bool fits(int bytes, int per_processor, const Processors& device) {
  return bytes <= device.group_shared_bytes && (bytes + reserved) * per_processor <= device.shared_bytes;
}

/// Returns true if the same kernels serve both formats.
bool are_kept_alike(const PanelFormat& a, const PanelFormat& b) {
  return a.bits == b.bits && a.has_table == b.has_table && a.offset == b.offset && a.scales == b.scales;
}

/// Returns the distance of a plan from those that were fastest on an H100, the most important term first:
/// split-K parts by panels per SM, few warps for few panels, two thread blocks per SM except for wide x, a
/// ring of two slots.
auto distance_kept(const ProductPlan& plan, const ProductSizes& sizes, const Processors& device) {
  const int panels = sizes.panels / std::max(device.count, 1);
  const int parts = !sizes.may_split || panels >= 12 ? 1 : panels >= 4 ? 2 : 4;
  const int warps = plan.shape.x_tiles() >= 8 ? 16 : panels >= 4 || sizes.tiles >= 2 ? 8 : 4;
  const int groups = device.count * (plan.shape.x_tiles() >= 8 ? 1 : 2);
  return std::tuple(std::abs(plan.shape.parts() - parts), std::abs(plan.shape.warps - warps),
                    std::abs(plan.groups - groups), plan.shape.sharers, std::abs(plan.ring - 2));
}

/// Returns the distance of a plan that streams x: missing warps, if each SM could have eight, then split-K
/// parts, then how often x is read.
auto distance_streamed(const ProductPlan& plan, const Processors& device) {
  return std::tuple(std::max(8 * device.count - plan.shape.warps * plan.groups, 0), plan.shape.parts(),
                    -plan.shape.lanes(), 0, 0);
}

auto distance(const ProductPlan& plan, const ProductSizes& sizes, const Processors& device) {
  const bool is_streamed = plan.shape.is_streamed();
  const auto [a, b, c, d, e] =
      is_streamed ? distance_streamed(plan, device) : distance_kept(plan, sizes, device);
  return std::tuple(is_streamed, a, b, c, d, e,
                    // break ties independently of the compiler
                    plan.shape.warps, plan.shape.segments, plan.groups, plan.ring);
}

/// Returns true if a shape suits a product, without regard to shared memory.
bool is_for(const ProductShape& shape, const ProductSizes& sizes) {
  if (shape.x_tiles() != sizes.tiles || (shape.parts() > 1 && !sizes.may_split)) return false;
  if (shape.is_streamed()) return true;
  return sizes.slabs == 1 && (shape.columns == Columns::short_run) == (sizes.blocks <= 32);
}

void add_kept(const ProductShape& shape, const ProductSizes& sizes, const Processors& device,
              std::vector<ProductPlan>& plans) {
  const FormatBytes format = panel_bytes(sizes.type);
  for (const int per_processor : {1, 2}) {
    const int groups = device.count * per_processor / shape.parts() * shape.parts();
    if (groups == 0) continue;
    const int panels = max_panels(shape, sizes.panels, groups), lanes = shape.lanes();
    const int to_do = (panels + lanes - 1) / lanes * shape.stretches();
    for (int ring = 1; ring <= longest_ring && ring <= to_do; ++ring) {
      const int bytes = product_memory(shape, format, sizes.panels, sizes.blocks, groups, ring).bytes();
      if (fits(bytes, per_processor, device)) plans.push_back({shape, groups, ring, bytes});
    }
  }
}

void add_streamed(const ProductShape& shape, const ProductSizes& sizes, const Processors& device,
                  std::vector<ProductPlan>& plans) {
  const int bytes = StreamedMemory{shape, panel_bytes(sizes.type)}.bytes();
  const int lanes = shape.lanes(), sets = (sizes.panels + lanes - 1) / lanes;
  if (fits(bytes, 1, device))
    plans.push_back({shape, sets * shape.parts() * sizes.slabs, StreamedMemory::ring, bytes});
}

}  // namespace

FormatBytes panel_bytes(TensorType type) {
  const PanelFormat format = panel_format(type);
  return {.codes = 128 * format.bits,
          .scales = 64 * scale_words(format.scales),
          .factors = has_factors(format.scales) ? 64 : 0,
          .takes_sums = has_minima(format.scales) && !is_of_16(format.scales)};
}

std::string image_of(TensorType type, Copies copies) {
  const auto first = std::ranges::find_if(device_layouts(), [&](TensorType one) {
    return are_kept_alike(panel_format(one), panel_format(type));
  });
  std::string image = "product_";
  for (const char c : format_of(*first).name)
    image += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return copies == Copies::by_threads ? image + "_ampere" : image;
}

std::string kernel_of(TensorType type, const ProductShape& shape) {
  constexpr std::string_view columns[] = {"short_run", "long_run", "streamed", "streamed_by_threads"};
  return fmt::format("{}_{}_{}_{}_{}_{}", image_of(type), shape.tiles, shape.sharers, shape.warps,
                     shape.segments, columns[static_cast<std::size_t>(shape.columns)]);
}

std::span<const ProductShape> product_shapes(TensorType type, Copies copies) {
  const auto found = std::ranges::find(listed, image_of(type), &Listed::image);
  if (found == std::end(listed) || copies == Copies::none) return {};
  if (copies == Copies::by_threads) return shapes_by_threads;
  if (found->has_all_shapes) return all_shapes;
  return some_shapes;
}

std::vector<ProductPlan> product_plans(const ProductSizes& sizes, const Processors& device) {
  SPECTR_CHECK(sizes.tiles >= 1 && sizes.tiles <= 8);
  std::vector<ProductPlan> plans;
  for (const ProductShape& shape : product_shapes(sizes.type, device.copies)) {
    if (!is_for(shape, sizes)) continue;
    if (shape.is_streamed()) {
      add_streamed(shape, sizes, device, plans);
    } else {
      add_kept(shape, sizes, device, plans);
    }
  }
  std::ranges::sort(plans, {}, [&](const ProductPlan& plan) { return distance(plan, sizes, device); });
  return plans;
}

std::optional<ExpertPlan> expert_plan(TensorType type, int slots, int experts, const Processors& device) {
  if (device.copies == Copies::none || slots <= experts) return std::nullopt;
  // Process 8 slots at a time if experts have about as many on average, otherwise 32.
  const ProductShape& shape = shapes_of_experts[slots <= 12 * experts ? 0 : 1];
  const int bytes = StreamedMemory{shape, panel_bytes(type)}.bytes();
  if (!fits(bytes, 1, device)) return std::nullopt;
  std::string kernel = fmt::format("{}_{}_{}_{}_{}_of_experts", image_of(type), shape.tiles, shape.sharers,
                                   shape.warps, shape.segments);
  return ExpertPlan{image_of(type, device.copies), std::move(kernel), shape, bytes};
}

std::optional<ProductPlan> ProductPlans::of(const ProductSizes& sizes) const {
  if (const auto found = chosen_.find(sizes); found != chosen_.end()) return found->second;
  const std::vector<ProductPlan> plans = product_plans(sizes, device_);
  return plans.empty() ? std::nullopt : std::optional(plans.front());
}

}  // namespace spectr::cuda
