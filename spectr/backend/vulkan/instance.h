#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spectr/backend/vulkan/gpu.h"

namespace spectr::vulkan {

/// Hears what the validation layer says of how Vulkan is used, from any thread.
using OnMessage = std::function<void(const std::string&)>;

/// Vulkan with the devices of all its drivers.
class Instance {
 public:
  /// With `on_message` under the validation layer, synchronization included. Error: there is no driver or no
  /// device, or no such layer.
  static Result<std::shared_ptr<const Instance>> make(PFN_vkGetInstanceProcAddr get,
                                                      OnMessage on_message = {});
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const InstanceApi& api() const { return api_; }
  const std::vector<Gpu>& gpus() const { return gpus_; }

 private:
  Instance() = default;
  Result<void> begin(PFN_vkGetInstanceProcAddr get);
  Result<void> find_gpus();

  VkInstance instance_ = VK_NULL_HANDLE;
  InstanceApi api_;
  OnMessage on_message_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger_ = nullptr;
  std::vector<Gpu> gpus_;
};

}  // namespace spectr::vulkan
