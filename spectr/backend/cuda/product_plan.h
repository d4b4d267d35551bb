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

/// What a product is, for those who share it among threads: matrices of a format with so many panels in all
/// and so many blocks of 64 columns, times so many tiles of x.
struct ProductSizes {
  TensorType type;
  int panels, blocks, tiles;
  bool may_split;  ///< whether y may have several parts
  int slabs = 1;   ///< of x, with 8 tiles each where there are several

  friend auto operator<=>(const ProductSizes&, const ProductSizes&) = default;
};

/// How a product may be started.
struct ProductPlan {
  ProductShape shape;
  int groups;
  int ring;          ///< slots of a lane; where x is streamed, of the group
  int shared_bytes;  ///< of a group
  bool late;         ///< whether the next kernel begins only when the last weights are on their way

  friend bool operator==(const ProductPlan&, const ProductPlan&) = default;
};

/// How a device copies to shared memory while it computes.
enum class Copies : std::uint8_t { none, by_threads, in_bulk };

/// What a device has.
struct Processors {
  int count;
  int shared_bytes;  ///< of one, for all its groups
  Copies copies = Copies::in_bulk;
};

/// The kernel image of a format's products: "product_q8_0"; before Hopper, "product_q8_0_ampere". Formats
/// that are kept alike have one.
std::string image_of(TensorType type, Copies copies = Copies::in_bulk);
/// A kernel's name in it: "product_q8_0_1_1_4_8_short_run".
std::string kernel_of(TensorType type, const ProductShape& shape);

/// The shapes that a format has kernels of (product_list.cuh). One of them is the best for a matrix and a
/// width; which, depends on the kernels before and after it, so that a trial within the pass decides.
std::span<const ProductShape> product_shapes(TensorType type, Copies copies = Copies::in_bulk);

/// Requires: has_device_layout(type).
FormatBytes panel_bytes(TensorType type);

/// The plans that are worth a trial, without their `late` variants: where x stays in shared memory, with one
/// or two groups per processor and rings that are no longer than what a lane has to do; where it is streamed,
/// with groups for all there is. First the one that is taken without a trial. None where shared memory has no
/// room, or where nothing can be copied there. Requires: has_device_layout(sizes.type), 1 to 8 tiles.
std::vector<ProductPlan> product_plans(const ProductSizes& sizes, const Processors& device);

/// How products of slots with the experts that they have chosen are started, on average so many slots an
/// expert; none where slots are mostly alone, or nothing can be copied: these have packed dot products.
struct ExpertPlan {
  std::string image, kernel;
  ProductShape shape;
  int shared_bytes;
};
std::optional<ExpertPlan> expert_plan(TensorType type, int slots, int experts, const Processors& device);

/// The plans of all products on a device.
class ProductPlans {
 public:
  explicit ProductPlans(const Processors& device) : device_(device) {}

  /// What was chosen, or the first of product_plans().
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
