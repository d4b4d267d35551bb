#include "spectr/backend/vulkan/api.h"

#include <dlfcn.h>

namespace spectr::vulkan {

Result<PFN_vkGetInstanceProcAddr> load_loader(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr)
    return error(ErrorCode::unsupported, "there is no Vulkan driver ({} was not found)", library);
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(handle, "vkGetInstanceProcAddr"));
  if (get == nullptr)
    return error(ErrorCode::unsupported, "{} is no loader of Vulkan: it has no vkGetInstanceProcAddr",
                 library);
  return get;
}

InstanceApi instance_api(PFN_vkGetInstanceProcAddr get, VkInstance instance) {
  InstanceApi api;
#define SPECTR_FIND(name) api.name = reinterpret_cast<PFN_##name>(get(instance, #name));
  SPECTR_OF_INSTANCES(SPECTR_FIND)
  SPECTR_FIND(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)
#undef SPECTR_FIND
  return api;
}

DeviceApi device_api(PFN_vkGetDeviceProcAddr get, VkDevice device) {
  DeviceApi api;
#define SPECTR_FIND(name) api.name = reinterpret_cast<PFN_##name>(get(device, #name));
  SPECTR_OF_DEVICES(SPECTR_FIND)
#undef SPECTR_FIND
  return api;
}

std::string text_of(VkResult result) {
  switch (result) {
#define SPECTR_CASE(name) \
  case name:              \
    return #name;
    SPECTR_CASE(VK_ERROR_OUT_OF_HOST_MEMORY)
    SPECTR_CASE(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    SPECTR_CASE(VK_ERROR_INITIALIZATION_FAILED)
    SPECTR_CASE(VK_ERROR_DEVICE_LOST)
    SPECTR_CASE(VK_ERROR_LAYER_NOT_PRESENT)
    SPECTR_CASE(VK_ERROR_EXTENSION_NOT_PRESENT)
    SPECTR_CASE(VK_ERROR_FEATURE_NOT_PRESENT)
    SPECTR_CASE(VK_ERROR_INCOMPATIBLE_DRIVER)
    SPECTR_CASE(VK_ERROR_TOO_MANY_OBJECTS)
#undef SPECTR_CASE
    default:
      return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

}  // namespace spectr::vulkan
