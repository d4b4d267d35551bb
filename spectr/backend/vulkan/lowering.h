#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectr/backend/vulkan/dispatch.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr::vulkan {

inline constexpr std::size_t columns_of_group = 512, most_groups = 65535, word = 4;

inline std::uint32_t as_uint(std::size_t n) {
  return static_cast<std::uint32_t>(n);
}
inline std::uint32_t as_uint(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

/// Numbers from the first of a matrix to its last.
inline std::size_t numbers_of(std::size_t rows, std::size_t cols, std::size_t stride) {
  return (rows - 1) * stride + cols;
}

/// Makes the dispatches of calls. A kernel's dispatch is what stands between begin() and end(): bindings, by
/// their numbers in the kernel, give the parameters that say where in them its places are.
class Lowering {
 public:
  Lowering(const BindingLimits& limits, std::vector<Dispatch>& dispatches)
      : limits_(limits), dispatches_(dispatches) {}

  const Result<void>& state() const { return state_; }

  // dispatch.cc
  void operator()(const call::Move& c);
  void operator()(const call::Copy& c);
  void operator()(const call::Add& c);
  void operator()(const call::Scale& c);
  void operator()(const call::Cap& c);
  void operator()(const call::Gate& c);
  void operator()(const call::Activate& c);
  void operator()(const call::Quantize& c);
  void operator()(const call::Norm& c);

  // dispatch_logits.cc
  void operator()(const call::Spread& c);
  void operator()(const call::WordLogits& c);
  void operator()(const call::Top& c);
  void operator()(const call::SumExp& c);

  // dispatch_products.cc
  void operator()(const call::Product& c);
  void operator()(const call::FloatProduct& c);

  // dispatch_attention.cc
  void operator()(const call::Turn& c);
  void operator()(const call::Attend& c);
  void operator()(const call::Merge& c);

 private:
  static std::size_t rest_of(const Slice& slice) { return slice ? slice.memory->bytes() - slice.offset : 0; }

  void begin(Kernel kernel);
  void end(std::vector<std::uint32_t> parameters, std::size_t groups_x, std::size_t groups_y = 1);

  /// Binds a place. Gives where it begins behind what is bound, in units of `unit` bytes; of no place all
  /// bits set.
  std::uint32_t bind(std::size_t which, const Slice& at, std::size_t bytes, bool writes, std::size_t unit);
  std::uint32_t reads(std::size_t which, const Slice& at, std::size_t bytes, std::size_t unit = word) {
    return bind(which, at, bytes, false, unit);
  }
  std::uint32_t writes(std::size_t which, const Slice& at, std::size_t bytes, std::size_t unit = word) {
    return bind(which, at, bytes, true, unit);
  }
  std::uint32_t reads(std::size_t which, const call::Rows& rows, std::size_t count, std::size_t cols) {
    return reads(which, rows.at, numbers_of(count, cols, rows.stride) * word);
  }
  std::uint32_t writes(std::size_t which, const call::Rows& rows, std::size_t count, std::size_t cols) {
    return writes(which, rows.at, numbers_of(count, cols, rows.stride) * word);
  }

  /// Where quantized rows go, the last parameters of a kernel that has some.
  void add_quantized(std::size_t which, const call::QuantizedRows& rows,
                     std::vector<std::uint32_t>& parameters);
  void add_elementwise(std::uint32_t operation, const call::Rows& a, const call::Rows& b,
                       const call::Rows& out, std::size_t rows, std::size_t cols, float factor = 0,
                       std::size_t gates = 0, const call::QuantizedRows& quantized = {});
  std::size_t rows_at_once(std::size_t rows, std::size_t bytes) const;
  void add_product(const call::Product& c, std::size_t slab);

  const BindingLimits& limits_;
  std::vector<Dispatch>& dispatches_;
  Result<void> state_;
};

}  // namespace spectr::vulkan
