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

inline constexpr std::size_t columns_of_group = 512, max_groups = 65535, word = 4;

inline std::uint32_t as_uint(std::size_t n) {
  return static_cast<std::uint32_t>(n);
}
inline std::uint32_t as_uint(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

/// Returns the span of a matrix with a row stride, from its first to its last number.
inline std::size_t numbers_of(std::size_t rows, std::size_t cols, std::size_t stride) {
  return (rows - 1) * stride + cols;
}

/// Returns the encoding of a floating-point format in float_product.comp.
inline std::uint32_t kind_of(TensorType type) {
  return type == TensorType::f32 ? 0 : type == TensorType::f16 ? 1 : 2;
}

/// Converts calls to dispatches. A dispatch is built between begin() and end(). Operands are bound by binding
/// number, which yields the offset parameters that the kernel needs to find them.
class Lowering {
 public:
  Lowering(const DispatchLimits& limits, std::vector<Dispatch>& dispatches)
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
  void operator()(const call::QuantizeHeads& c);
  void operator()(const call::Norm& c);

  // dispatch_logits.cc
  void operator()(const call::Spread& c);
  void operator()(const call::ExtraTokenLogits& c);
  void operator()(const call::Top& c);
  void operator()(const call::SumExp& c);

  // dispatch_products.cc
  void operator()(const call::Product& c);
  void operator()(const call::FloatProduct& c);
  void operator()(const call::HeadProducts& c);
  void operator()(const call::FloatHeadProducts& c);

  // dispatch_experts.cc
  void operator()(const call::ChooseExperts& c);
  void operator()(const call::GroupExperts& c);
  void operator()(const call::ExpertProduct& c);
  void operator()(const call::ExpertFloatProduct& c);
  void operator()(const call::AddChosen& c);
  void operator()(const call::Combine& c);

  // dispatch_attention.cc
  void operator()(const call::Rope& c);
  void operator()(const call::Attend& c);
  void operator()(const call::Merge& c);

  // dispatch_states.cc
  void operator()(const call::StoreInputs& c);
  void operator()(const call::Convolve& c);
  void operator()(const call::PrepareHeads& c);
  void operator()(const call::MultiplyKeys& c);
  void operator()(const call::Recur& c);

 private:
  static std::size_t rest_of(const Slice& slice) { return slice ? slice.memory->bytes() - slice.offset : 0; }

  void begin(Kernel kernel);
  void end(std::vector<std::uint32_t> parameters, std::size_t groups_x, std::size_t groups_y = 1);

  /// Binds an operand. Returns its offset in the aligned binding, in units of `unit` bytes, or all bits set
  /// if the operand is empty.
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

  /// Appends the location of quantized rows, with heads contiguous: the last parameters of kernels that write
  /// them.
  void add_quantized(std::size_t which, const call::QuantizedRows& rows,
                     std::vector<std::uint32_t>& parameters, std::size_t heads = 1);
  void add_elementwise(std::uint32_t operation, const call::Rows& a, const call::Rows& b,
                       const call::Rows& out, std::size_t rows, std::size_t cols, float factor = 0,
                       std::size_t gates = 0, const call::QuantizedRows& quantized = {});
  std::uint32_t state_rows(std::size_t which, const call::PlannedStates& plan);
  std::uint32_t state_steps(std::size_t which, const call::PlannedStates& plan);
  std::size_t rows_at_once(std::size_t rows, std::size_t bytes) const;

  /// Batched heads: matrices are contiguous, x and y have head strides in bytes.
  struct Heads {
    std::size_t count = 1, x_head_stride = 0, y_head_stride = 0;

    /// Returns the distance from the first head to the last, given a stride.
    std::size_t behind(std::size_t stride) const { return (count - 1) * stride; }
  };
  void add_product(const call::Product& c, const call::Product::Target& target, std::size_t slab,
                   const Heads& heads);
  void add_float_product(const call::FloatProduct& c, const Heads& heads);
  void add_quantize(const call::Quantize& c, std::size_t heads, std::size_t in_head_stride);
  void begin_product(TensorType type, std::size_t n, bool of_experts);
  void begin_float_product(std::size_t n, bool of_experts);
  std::size_t experts_at_once(const call::ExpertWeights& weights, std::size_t bytes) const;
  void end_of_experts(std::vector<std::uint32_t> parameters, std::size_t lists_binding,
                      const call::ExpertLists& lists, std::size_t sharers, std::size_t first,
                      std::size_t experts, std::size_t x_slab, std::size_t rows);

  const DispatchLimits& limits_;
  std::vector<Dispatch>& dispatches_;
  Result<void> state_;
};

}  // namespace spectr::vulkan
