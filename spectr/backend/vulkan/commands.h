#pragma once

#include "spectr/backend/device/device.h"
#include "spectr/backend/vulkan/logical_device.h"

namespace spectr::vulkan {

/// A command buffer with descriptors for its dispatches. It owns its pools, so any thread can destroy it.
class Commands final : public Recording {
 public:
  /// The device must outlive it.
  explicit Commands(const LogicalDevice& device) : device_(device) {}
  ~Commands() override;

  /// Creates the pool and its command buffer, which can be re-recorded. Must be called once.
  VkResult make();

  VkCommandBuffer buffer = VK_NULL_HANDLE;
  VkDescriptorPool sets = VK_NULL_HANDLE;

 private:
  const LogicalDevice& device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
};

}  // namespace spectr::vulkan
