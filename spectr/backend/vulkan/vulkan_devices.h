#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "spectr/backend/device/device.h"

/// GPUs of any vendor through Vulkan 1.3. Builds without SPECTR_VULKAN report an error instead of devices.
namespace spectr::vulkan {

/// Returns the devices of this machine: "Vulkan0", "Vulkan1", … Error: why there are none.
Result<std::vector<DeviceInfo>> devices();

/// Opens a device by name. Errors: no such device, or a requirement that it does not meet.
Result<std::shared_ptr<Device>> open_device(std::string_view name);

}  // namespace spectr::vulkan
