#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "spectr/backend/device/device.h"

/// GPUs of any maker by Vulkan 1.3. A build without it (SPECTR_VULKAN) has no devices, and says so.
namespace spectr::vulkan {

/// The devices of this machine, "Vulkan0", "Vulkan1", … Error: why there are none.
Result<std::vector<DeviceInfo>> devices();

/// Error: there is no such device, or what it lacks.
Result<std::shared_ptr<Device>> open_device(std::string_view name);

}  // namespace spectr::vulkan
