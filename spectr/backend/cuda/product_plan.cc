#include "spectr/backend/cuda/product_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spectr/backend/device/weight_panels.h"
#include "spectr/base/check.h"

namespace spectr::cuda {
namespace {

template <class... Shapes>
constexpr auto shapes_of(ShapeList<Shapes...>) {
  return std::array{Shapes::shape...};
}
constexpr auto shapes = shapes_of(ProductShapes());

constexpr int longest_ring = 3, reserved = 1024;  // bytes that the system takes of each group's

/// Whether a group may have so much of a processor's shared memory, among `per_processor` ones.
bool fits(int bytes, int per_processor, const Processors& device) {
  return (bytes + reserved) * per_processor <= device.shared_bytes;
}

}  // namespace

std::span<const ProductShape> product_shapes() {
  return shapes;
}

std::vector<ProductPlan> product_plans(const FormatBytes& format, int rows, int cols, int n, int parts,
                                       const Processors& device) {
  SPECTR_CHECK(n >= 1 && n <= 64);
  const int blocks = (cols + 63) / 64, row_tiles = (n + 7) / 8;
  std::vector<ProductPlan> plans;
  for (const ProductShape& shape : shapes) {
    const bool wide_enough = shape.x_tiles() >= row_tiles, needless = shape.x_tiles() >= 2 * row_tiles;
    if (!wide_enough || needless || shape.one_run != (blocks <= 32) || shape.parts() > parts) continue;
    for (const int per_processor : {1, 2}) {
      const int groups = device.count * per_processor / shape.parts() * shape.parts();
      const int panels = most_panels(shape, rows, groups), lanes = shape.lanes();
      const int to_do = (panels + lanes - 1) / lanes * shape.stretches();
      for (int ring = 1; ring <= longest_ring && ring <= to_do; ++ring) {
        const int bytes = product_memory(shape, format, rows, blocks, groups, ring).bytes();
        if (fits(bytes, per_processor, device)) plans.push_back({shape, groups, ring, bytes, false});
      }
    }
  }
  return plans;
}

namespace {

/// What product_list.cuh has for so many tiles of x.
std::optional<ProductShape> whole_shape(int tiles, bool one_run) {
  if (tiles == 1) return ProductShape{1, 1, 4, 32, one_run};
  if (tiles == 2) return ProductShape{2, 1, 8, 32, one_run};
  if (tiles == 4) return ProductShape{2, 2, 8, 32, one_run};
  if (tiles == 8 && one_run) return ProductShape{2, 4, 16, 32, one_run};
  return std::nullopt;
}

FormatBytes panel_bytes(TensorType type) {
  const PanelFormat format = panel_format(type);
  return {.codes = 128 * format.bits,
          .scales = 64 * scale_words(format.scales),
          .factors = has_factors(format.scales) ? 64 : 0,
          .takes_sums = has_minima(format.scales) && !is_of_16(format.scales)};
}

/// Whether the same kernels multiply with both.
bool are_kept_alike(const PanelFormat& a, const PanelFormat& b) {
  return a.bits == b.bits && a.has_table == b.has_table && a.offset == b.offset && a.scales == b.scales;
}

/// Of the formats that are kept alike the first one's name, in lower case.
std::string name_of(TensorType type) {
  const auto first = std::ranges::find_if(device_layouts(), [&](TensorType one) {
    return are_kept_alike(panel_format(one), panel_format(type));
  });
  std::string name(format_of(*first).name);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

}  // namespace

std::optional<WholeProduct> whole_product(TensorType type, int rows, int blocks, int tiles,
                                          const Processors& device) {
  const bool one_run = blocks <= 32;
  const FormatBytes format = panel_bytes(type);
  const std::optional<ProductShape> shape = whole_shape(tiles, one_run);
  if (!shape) return std::nullopt;
  for (const int per_processor : {2, 1}) {
    const int groups = device.count * per_processor, panels = most_panels(*shape, rows, groups);
    const int to_do = (panels + shape->lanes() - 1) / shape->lanes() * shape->stretches();
    for (int ring = std::min(longest_ring, to_do); ring > 0; --ring) {
      const int bytes = product_memory(*shape, format, rows, blocks, groups, ring).bytes();
      if (!fits(bytes, per_processor, device)) continue;
      const std::string image = "product_" + name_of(type);
      return WholeProduct{image,  fmt::format("{}_{}_{}", image, tiles, one_run ? "short" : "long"),
                          groups, 32 * shape->warps,
                          ring,   bytes};
    }
  }
  return std::nullopt;
}

}  // namespace spectr::cuda
