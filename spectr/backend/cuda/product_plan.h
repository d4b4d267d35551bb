#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spectr/backend/cuda/product_shape.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::cuda {

/// The sizes that determine a product's plans: the total panels of its matrices, which have one format, their
/// blocks of 64 columns, and the tiles of 8 rows of x.
struct ProductSizes {
  TensorType type;
  int panels, blocks, tiles;
  bool may_split;  ///< true if y may have split-K parts
  int slabs = 1;   ///< of x; if there are several, each has 8 tiles

  friend auto operator<=>(const ProductSizes&, const ProductSizes&) = default;
};

/// A launch configuration of a product.
struct ProductPlan {
  ProductShape shape;
  int groups;
  int ring;          ///< ring slots per lane, or per thread block if x is streamed
  int shared_bytes;  ///< per thread block

  friend bool operator==(const ProductPlan&, const ProductPlan&) = default;
};

/// Asynchronous copies to shared memory that a device supports.
enum class Copies : std::uint8_t { none, by_threads, in_bulk };

/// Properties of a device's SMs.
struct Processors {
  int count;
  int shared_bytes;  ///< per SM
  Copies copies = Copies::in_bulk;
  int group_shared_bytes = 227 << 10;  ///< maximum per thread block; the default is Hopper's
};

/// Returns the name of the kernel image for a format's products: "product_q8_0", or "product_q8_0_ampere"
/// before Hopper. Formats with the same panel layout share an image.
std::string image_of(TensorType type, Copies copies = Copies::in_bulk);
/// Returns the name of a kernel in the image: "product_q8_0_1_1_4_8_short_run".
std::string kernel_of(TensorType type, const ProductShape& shape);

/// Returns the shapes for which a format has kernels (product_list.cuh). The best one depends on the matrix,
/// the width, and the neighbouring kernels, so it is found by trials within a pass.
std::span<const ProductShape> product_shapes(TensorType type, Copies copies = Copies::in_bulk);

/// Requires: has_device_layout(type).
FormatBytes panel_bytes(TensorType type);

/// Returns the plans worth a trial. If x stays in shared memory: one or two thread blocks per SM, and rings
/// no longer than a lane's work; if x is streamed: thread blocks for all of the work. The first is used
/// without a trial. Empty if shared memory is too small or there are no asynchronous copies. Requires:
/// has_device_layout(sizes.type), 1 to 8 tiles.
std::vector<ProductPlan> product_plans(const ProductSizes& sizes, const Processors& device);

/// The launch configuration of an expert product with `slots` / `experts` slots per expert on average. None
/// if experts mostly have one slot, or without asynchronous copies: packed dot products are used then.
struct ExpertPlan {
  std::string image, kernel;
  ProductShape shape;
  int shared_bytes;
};
std::optional<ExpertPlan> expert_plan(TensorType type, int slots, int experts, const Processors& device);

/// The plans of all products on a device. Not thread-safe.
class ProductPlans {
 public:
  explicit ProductPlans(const Processors& device) : device_(device) {}

  /// Returns the chosen plan, or else the first of product_plans().
  std::optional<ProductPlan> of(const ProductSizes& sizes) const;
  bool has_chosen(const ProductSizes& sizes) const { return chosen_.contains(sizes); }
  void choose(const ProductSizes& sizes, const ProductPlan& plan) { chosen_.insert_or_assign(sizes, plan); }
  const std::map<ProductSizes, ProductPlan>& chosen() const { return chosen_; }
  const Processors& device() const { return device_; }

 private:
  Processors device_ = {};
  std::map<ProductSizes, ProductPlan> chosen_;
};

}  // namespace spectr::cuda
