#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/backend/vulkan/gpu.h"
#include "spectr/backend/vulkan/kernel_code.h"

namespace spectr::vulkan {

/// A range of memory that a kernel reads or writes; may be empty.
struct Binding {
  Slice at;  ///< aligned for the device
  std::size_t bytes = 0;
  bool writes = false;  ///< true if the kernel writes it, even if it also reads it

  friend bool operator==(const Binding&, const Binding&) = default;
};

/// A kernel dispatch as plain data.
struct Dispatch {
  Kernel kernel;
  std::vector<std::uint32_t> constants = {};   ///< specialization constants
  std::uint32_t subgroup = 0;                  ///< required subgroup size, if the kernel uses subgroups
  std::vector<Binding> bindings = {};          ///< one per binding of the kernel
  std::vector<std::uint32_t> parameters = {};  ///< push constants
  std::uint32_t groups_x = 1, groups_y = 1;

  friend bool operator==(const Dispatch&, const Dispatch&) = default;
};

/// Appends the dispatches that execute a call. Error: an operand exceeds the maximum size of a binding.
Result<void> add_dispatches(const call::AnyCall& call, const DispatchLimits& limits,
                            std::vector<Dispatch>& dispatches);

/// Tracks reads and writes since the last barrier. A barrier is needed before a dispatch that reads what was
/// written, or writes what was read or written, since then.
class Hazards {
 public:
  /// Returns true if a dispatch needs a barrier before it. Also records the dispatch's accesses.
  bool need_barrier(const Dispatch& dispatch);

 private:
  std::vector<Binding> since_;
};

}  // namespace spectr::vulkan
