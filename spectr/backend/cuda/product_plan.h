#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spectr/backend/cuda/product_shape.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::cuda {

/// The shapes that there are kernels of, for each format. One of them is the best for a matrix and a width;
/// which, depends on the kernels before and after it, so that a trial within the pass decides.
template <class... Shapes>
struct ShapeList {};
using ProductShapes = ShapeList<
    // Up to 8 rows of x, 16, 32, 64; matrices of at most 2048 columns.
    Shaped<1, 1, 4, 8, true>, Shaped<1, 1, 8, 8, true>, Shaped<1, 1, 4, 16, true>, Shaped<1, 1, 8, 16, true>,
    Shaped<1, 1, 4, 32, true>, Shaped<1, 1, 8, 32, true>,  //
    Shaped<2, 1, 8, 8, true>, Shaped<2, 1, 8, 16, true>, Shaped<2, 1, 8, 32, true>, Shaped<1, 2, 8, 8, true>,
    Shaped<1, 2, 8, 32, true>,                                                          //
    Shaped<2, 2, 8, 8, true>, Shaped<2, 2, 8, 16, true>, Shaped<2, 2, 8, 32, true>,     //
    Shaped<2, 4, 16, 8, true>, Shaped<2, 4, 16, 16, true>, Shaped<2, 4, 16, 32, true>,  //
    // Wider ones.
    Shaped<1, 1, 4, 8, false>, Shaped<1, 1, 8, 8, false>, Shaped<1, 1, 8, 16, false>,  //
    Shaped<2, 1, 8, 8, false>, Shaped<1, 2, 8, 8, false>,                              //
    Shaped<2, 2, 8, 8, false>, Shaped<2, 2, 8, 16, false>, Shaped<2, 4, 16, 8, false>>;

/// All of ProductShapes.
std::span<const ProductShape> product_shapes();

/// How a product may be started.
struct ProductPlan {
  ProductShape shape;
  int groups;
  int ring;          ///< slots of a lane
  int shared_bytes;  ///< of a group
  bool late;         ///< whether the next kernel begins only when the last weights are on their way

  friend bool operator==(const ProductPlan&, const ProductPlan&) = default;
};

/// What a device has.
struct Processors {
  int count;
  int shared_bytes;  ///< of one, for all its groups
};

/// The plans that are worth a trial for a [rows, cols] matrix and n rows of x, without their `late` variants:
/// one or two groups per processor, and rings that are no longer than what a lane has to do.
/// `parts`: how many parts y may have. Requires: 1 ≤ n ≤ 64.
std::vector<ProductPlan> product_plans(const FormatBytes& format, int rows, int cols, int n, int parts,
                                       const Processors& device);

/// A product by one launch whose groups sum all segments: y has one part.
struct WholeProduct {
  std::string image, kernel;  ///< as a Launch has them
  int groups, threads, ring, shared_bytes;
};

/// For a matrix of `rows` rows and `blocks` blocks of 64 columns, and `tiles` tiles of x; none where shared
/// memory has no room for it. Requires: has_device_layout(type).
std::optional<WholeProduct> whole_product(TensorType type, int rows, int blocks, int tiles,
                                          const Processors& device);

}  // namespace spectr::cuda
