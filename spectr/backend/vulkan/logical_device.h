#pragma once

#include <memory>

#include "spectr/backend/vulkan/instance.h"

namespace spectr::vulkan {

/// An open device with one queue.
class LogicalDevice {
 public:
  /// Errors: a requirement that the device does not meet, or an error of the driver.
  static Result<std::unique_ptr<const LogicalDevice>> open(std::shared_ptr<const Instance> instance,
                                                           const Gpu& gpu);
  ~LogicalDevice();
  LogicalDevice(const LogicalDevice&) = delete;
  LogicalDevice& operator=(const LogicalDevice&) = delete;

  const Instance& instance() const { return *instance_; }
  const Gpu& gpu() const { return gpu_; }
  const DeviceApi& api() const { return api_; }
  VkDevice handle() const { return device_; }
  VkQueue queue() const { return queue_; }

 private:
  LogicalDevice(std::shared_ptr<const Instance> instance, const Gpu& gpu)
      : instance_(std::move(instance)), gpu_(gpu) {}

  std::shared_ptr<const Instance> instance_;
  const Gpu& gpu_;  // owned by the instance
  DeviceApi api_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
};

}  // namespace spectr::vulkan
