#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spectr/backend/vulkan/gpu.h"

namespace spectr::vulkan {

/// Called with messages of the validation layer, from any thread.
using OnMessage = std::function<void(const std::string&)>;

/// A Vulkan instance with the devices of all drivers.
class Instance {
 public:
  /// `on_message`, if given, enables the validation layer, including synchronization validation. Errors: no
  /// driver, no device, or no validation layer.
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
