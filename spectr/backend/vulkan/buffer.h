#pragma once

#include <cstddef>

#include "spectr/backend/vulkan/logical_device.h"

namespace spectr::vulkan {

/// The location and use of a buffer's memory.
enum class Place {
  device,    ///< device memory
  upload,    ///< written by the host
  download,  ///< read by the host
};

/// A buffer with its own memory, for kernels and copies.
class Buffer {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  Buffer(const LogicalDevice& device, std::size_t bytes, Place place);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkBuffer handle() const { return buffer_; }
  /// Returns the host mapping; null for Place::device.
  std::byte* data() const { return data_; }

 private:
  VkResult make(std::size_t bytes, Place place);
  void destroy();

  const LogicalDevice& device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* data_ = nullptr;
};

}  // namespace spectr::vulkan
