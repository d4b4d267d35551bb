#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/backend/vulkan/gpu.h"
#include "spectr/backend/vulkan/kernel_code.h"

namespace spectr::vulkan {

/// A place that a kernel reads or writes; or none, where it has nothing there.
struct Binding {
  Slice at;  ///< as the device's alignment asks for
  std::size_t bytes = 0;
  bool writes = false;  ///< otherwise it reads; kernels that do both have the place as one that is written
};

/// A kernel's dispatch as plain data.
struct Dispatch {
  Kernel kernel;
  std::vector<std::uint32_t> constants = {};   ///< of specialization
  std::uint32_t subgroup = 0;                  ///< invocations, where the kernel goes by subgroups
  std::vector<Binding> bindings = {};          ///< as many as the kernel has
  std::vector<std::uint32_t> parameters = {};  ///< push constants
  std::uint32_t groups_x = 1, groups_y = 1;
};

/// Appends the dispatches that do what a call says. Error: a place that is larger than a binding may be.
Result<void> add_dispatches(const call::AnyCall& call, const DispatchLimits& limits,
                            std::vector<Dispatch>& dispatches);

/// What was read and written since the last barrier: what comes next must wait for one where it reads what
/// was written, or writes what was read or written.
class Hazards {
 public:
  /// Whether a dispatch needs a barrier before it; notes what it does.
  bool need_barrier(const Dispatch& dispatch);

 private:
  std::vector<Binding> since_;
};

}  // namespace spectr::vulkan
