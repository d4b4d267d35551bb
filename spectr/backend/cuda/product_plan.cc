#include "spectr/backend/cuda/product_plan.h"

#include <array>

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

}  // namespace spectr::cuda
