#include "spectr/backend/vulkan/vulkan_devices.h"

namespace spectr::vulkan {

Result<std::vector<DeviceInfo>> devices() {
  return error(ErrorCode::unsupported, "this build has no kernels for GPUs by Vulkan (SPECTR_VULKAN)");
}

Result<std::shared_ptr<Device>> open_device(std::string_view) {
  return error(ErrorCode::unsupported, "this build has no kernels for GPUs by Vulkan (SPECTR_VULKAN)");
}

}  // namespace spectr::vulkan
