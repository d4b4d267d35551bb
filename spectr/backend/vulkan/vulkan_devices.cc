#include "spectr/backend/vulkan/vulkan_devices.h"

#include <algorithm>

#include "spectr/backend/vulkan/vulkan_device.h"

namespace spectr::vulkan {
namespace {

Result<std::shared_ptr<const Instance>> instance() {
  SPECTR_TRY(const PFN_vkGetInstanceProcAddr get, load_loader());
  return Instance::make(get);
}

}  // namespace

Result<std::vector<DeviceInfo>> devices() {
  SPECTR_TRY(const auto of, instance());
  std::vector<DeviceInfo> all;
  for (const Gpu& gpu : of->gpus()) all.push_back(gpu.info(of->api()));
  return all;
}

Result<std::shared_ptr<Device>> open_device(std::string_view name) {
  SPECTR_TRY(const auto of, instance());
  const auto found = std::ranges::find(of->gpus(), name, &Gpu::name);
  if (found == of->gpus().end()) return error("there is no such device; see --list-devices");
  return VulkanDevice::open(of, *found);
}

}  // namespace spectr::vulkan
