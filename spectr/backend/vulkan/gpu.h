#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "spectr/backend/device/device.h"
#include "spectr/backend/vulkan/api.h"

namespace spectr::vulkan {

/// A cooperative matrix shape for signed bytes: a subgroup multiplies [rows, depth] by [depth, columns].
struct Matrices {
  std::uint32_t rows, columns;  ///< 8 or 16
  std::uint32_t depth;          ///< 8, 16 or 32
  std::uint32_t subgroup;       ///< subgroup size
};

/// The properties of a device that determine its dispatches.
struct DispatchLimits {
  std::size_t alignment;  ///< of bindings, in bytes
  std::size_t bytes;      ///< maximum size of a binding
  std::size_t shared_bytes = std::size_t{32} << 10;
  std::optional<Matrices> matrices = std::nullopt;
};

/// A physical device as described by its driver.
struct Gpu {
  VkPhysicalDevice handle;
  std::string name;         ///< "Vulkan0"
  std::string description;  ///< "NVIDIA H100 80GB HBM3"
  bool is_processor;        ///< true for a driver that computes on the CPU
  bool has_budget;          ///< true if the driver reports free memory
  std::uint32_t family;     ///< a compute queue family, preferably without graphics
  VkPhysicalDeviceMemoryProperties memory;
  std::size_t buffer_bytes;  ///< maximum size of a buffer
  DispatchLimits limits;
  /// The missing requirement of kernels, e.g. "Vulkan 1.2, but 1.3 is needed"; empty if there is none.
  std::string missing;

  static Gpu describe(const InstanceApi& api, VkPhysicalDevice handle, std::size_t ordinal);

  /// Returns the index of the largest heap of device memory.
  std::uint32_t heap() const;
  /// Returns name and memory; all memory counts as free if the driver does not report its usage.
  DeviceInfo info(const InstanceApi& api) const;
  /// Returns the first memory type in `allowed` that has all flags of `wanted` and, if possible, `liked`.
  /// Device memory is taken from heap(). −1: none.
  int memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked) const;
};

}  // namespace spectr::vulkan
