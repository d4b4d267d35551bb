#pragma once

#include <cstddef>

#include "spectr/backend/vulkan/logical_device.h"

namespace spectr::vulkan {

/// Where a buffer's memory is.
enum class Place {
  device,    ///< of its own
  upload,    ///< the host writes it
  download,  ///< the host reads it
};

/// A buffer with memory of its own, for kernels and copies.
class Buffer {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  Buffer(const LogicalDevice& device, std::size_t bytes, Place place);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkBuffer handle() const { return buffer_; }
  /// What the host sees of it; null on the device.
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
