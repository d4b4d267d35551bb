#include "spectr/backend/cuda/product_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spectr/base/check.h"
#include "spectr/gguf/quant/quant_layout.h"

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

/// What kernel_list.cuh has for so many tiles of x.
std::optional<ProductShape> whole_shape(int tiles, bool one_run) {
  if (tiles == 1) return ProductShape{1, 1, 4, 32, one_run};
  if (tiles == 2) return ProductShape{2, 1, 8, 32, one_run};
  if (tiles == 4) return ProductShape{2, 2, 8, 32, one_run};
  if (tiles == 8 && one_run) return ProductShape{2, 4, 16, 32, one_run};
  return std::nullopt;
}

FormatBytes panel_bytes(TensorType type) {
  const QuantLayout layout = *quant_layout(type);
  return {
      .codes = 128 * layout.bits(), .factors = layout.scale_bytes > 0 ? 64 : 0, .has_min = layout.has_min};
}

/// In lower case.
std::string name_of(TensorType type) {
  std::string name(format_of(type).name);
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
      return WholeProduct{fmt::format("product_{}_{}_{}", name_of(type), tiles, one_run ? "short" : "long"),
                          groups, 32 * shape->warps, ring, bytes};
    }
  }
  return std::nullopt;
}

}  // namespace spectr::cuda
