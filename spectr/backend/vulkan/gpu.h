#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "spectr/backend/device/device.h"
#include "spectr/backend/vulkan/api.h"

namespace spectr::vulkan {

/// Matrices of signed bytes that a subgroup multiplies: [rows, depth] times [depth, columns].
struct Matrices {
  std::uint32_t rows, columns;  ///< 8 or 16
  std::uint32_t depth;          ///< 8, 16 or 32
  std::uint32_t subgroup;       ///< invocations
};

/// What dispatches on a device go by.
struct DispatchLimits {
  std::size_t alignment;  ///< of what is bound, in bytes
  std::size_t bytes;      ///< of a binding
  std::size_t shared_bytes = std::size_t{32} << 10;
  std::optional<Matrices> matrices = std::nullopt;
};

/// A device of an instance, as its driver describes it.
struct Gpu {
  VkPhysicalDevice handle;
  std::string name;         ///< "Vulkan0"
  std::string description;  ///< "NVIDIA H100 80GB HBM3"
  bool is_processor;        ///< a driver that computes on the CPU
  bool has_budget;          ///< it tells how much of its memory is free
  std::uint32_t family;     ///< of queues that compute, if possible of those that do not draw
  VkPhysicalDeviceMemoryProperties memory;
  std::size_t buffer_bytes;  ///< of a buffer, at most
  DispatchLimits limits;
  /// What it lacks that kernels need: "Vulkan 1.2, but 1.3 is needed"; or nothing.
  std::string missing;

  static Gpu describe(const InstanceApi& api, VkPhysicalDevice handle, std::size_t ordinal);

  /// The largest heap of its own memory.
  std::uint32_t heap() const;
  /// Free is what nobody has, or all where the driver does not tell.
  DeviceInfo info(const InstanceApi& api) const;
  /// The first type of memory among those in `allowed` that has all of `wanted`, if possible with `liked`.
  /// Device memory is of heap(). −1: there is none.
  int memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked) const;
};

}  // namespace spectr::vulkan
