#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spectr/backend/cuda/kernels/parameters.h"
#include "spectr/backend/cuda/launch.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr::cuda {

inline int as_int(std::size_t n) {
  return static_cast<int>(n);
}

/// Converts kernel calls to launches.
class Lowering {
 public:
  Lowering(const ProductPlans& plans, const AddressOf& address_of, std::vector<Launch>& launches)
      : plans_(plans), address_of_(address_of), launches_(launches) {}

  // launch.cc
  void operator()(const call::Move& c);
  void operator()(const call::Copy& c);
  void operator()(const call::Add& c);
  void operator()(const call::Scale& c);
  void operator()(const call::Cap& c);
  void operator()(const call::Gate& c);
  void operator()(const call::Quantize& c);
  void operator()(const call::Activate& c);
  void operator()(const call::Norm& c);

  // launch_logits.cc
  void operator()(const call::Spread& c);
  void operator()(const call::ExtraTokenLogits& c);
  void operator()(const call::Top& c);
  void operator()(const call::SumExp& c);

  // launch_products.cc
  void operator()(const call::Product& c);
  void operator()(const call::FloatProduct& c);
  void operator()(const call::QuantizeHeads& c);
  void operator()(const call::HeadProducts& c);
  void operator()(const call::FloatHeadProducts& c);

  // launch_experts.cc
  void operator()(const call::ChooseExperts& c);
  void operator()(const call::GroupExperts& c);
  void operator()(const call::ExpertProduct& c);
  void operator()(const call::ExpertFloatProduct& c);
  void operator()(const call::AddChosen& c);
  void operator()(const call::Combine& c);

  // launch_attention.cc
  void operator()(const call::Rope& c);
  void operator()(const call::Attend& c);
  void operator()(const call::Merge& c);

  // launch_states.cc
  void operator()(const call::StoreInputs& c);
  void operator()(const call::Convolve& c);
  void operator()(const call::PrepareHeads& c);
  void operator()(const call::MultiplyKeys& c);
  void operator()(const call::Recur& c);

 private:
  static long as_long(std::size_t n) { return static_cast<long>(n); }

  template <class T>
  T* at(const Slice& slice) const {
    const auto address = static_cast<std::uintptr_t>(address_of_(slice));
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  /// Returns the input of a kernel that does not sum split-K parts.
  Matrix matrix(const call::Rows& rows) const {
    SPECTR_CHECK(!parts_.contains(rows.at.memory));
    return {at<float>(rows.at), as_long(rows.stride)};
  }
  /// Returns the input of a kernel that sums split-K parts.
  Matrix sum(const call::Rows& rows) const {
    const auto found = parts_.find(rows.at.memory);
    const auto [parts, part_stride] = found == parts_.end() ? Parts() : found->second;
    return {at<float>(rows.at), as_long(rows.stride), parts, as_long(part_stride)};
  }
  /// Returns the output of a kernel.
  Matrix written(const call::Rows& rows) {
    parts_.erase(rows.at.memory);
    return matrix(rows);
  }

  /// Adds a launch with one thread per four columns.
  template <class Parameters>
  void add_rows(const char* kernel, std::size_t rows, std::size_t cols, const Parameters& p) {
    add(kernel, rows, div_up(cols, 512), 128, p);
  }
  template <class Parameters>
  void add(std::string kernel, std::size_t groups_x, std::size_t groups_y, int threads, const Parameters& p,
           int shared_bytes = 0) {
    static_assert(std::is_trivially_copyable_v<Parameters>);
    const auto bytes = std::as_bytes(std::span(&p, 1));
    launches_.push_back({"kernels", std::move(kernel), as_int(groups_x), as_int(groups_y), threads,
                         shared_bytes, std::vector<std::byte>(bytes.begin(), bytes.end())});
  }

  QuantizedRows quantized(const call::QuantizedRows& rows) const;
  /// Requires: has_device_layout(weights.type).
  Panels panels(const call::Weights& weights) const;
  States states(const call::States& of) const;
  PlannedStates planned(const call::PlannedStates& plan) const;
  FloatProduct float_product(const call::Weights& weights, const call::Rows& x, const call::Rows& y);
  Choices choices(const call::Choices& choices) const;
  ExpertLists lists(const call::ExpertLists& lists) const;
  /// Adds a tensor-core product. Returns false if there is no plan for it.
  bool add_planned_product(const call::Product& c);
  void add_any_product(const call::Product& c);
  AnyProduct any_product(const call::Product& c, const call::Product::Target& target);

  struct Parts {
    int count = 1;
    std::size_t stride = 0;
  };

  const ProductPlans& plans_;
  const AddressOf& address_of_;
  std::vector<Launch>& launches_;
  std::map<const DeviceMemory*, Parts> parts_;  // split-K outputs of the latest products
};

}  // namespace spectr::cuda
