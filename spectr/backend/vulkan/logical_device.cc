#include "spectr/backend/vulkan/logical_device.h"

#include <vector>

namespace spectr::vulkan {

Result<std::unique_ptr<const LogicalDevice>> LogicalDevice::open(std::shared_ptr<const Instance> instance,
                                                                 const Gpu& gpu) {
  if (!gpu.missing.empty())
    return error(ErrorCode::unsupported, "{} ({}): {}", gpu.name, gpu.description, gpu.missing);
  std::unique_ptr<LogicalDevice> made(new LogicalDevice(std::move(instance), gpu));
  const float priority = 1.0f;
  auto queue = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = gpu.family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto features =
      structure<VkPhysicalDeviceVulkan13Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  features.shaderIntegerDotProduct = VK_TRUE;
  features.maintenance4 = VK_TRUE;
  auto features_1_2 =
      structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  auto of_matrices = structure<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  std::vector<const char*> extensions;
  if (gpu.has_budget) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (gpu.limits.matrices) {
    extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    features.subgroupSizeControl = features.computeFullSubgroups = VK_TRUE;
    features_1_2.shaderInt8 = VK_TRUE;
    features_1_2.vulkanMemoryModel = features_1_2.vulkanMemoryModelDeviceScope = VK_TRUE;
    of_matrices.cooperativeMatrix = VK_TRUE;
    features.pNext = &features_1_2;
    features_1_2.pNext = &of_matrices;
  }
  auto info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const InstanceApi& api = made->instance().api();
  const VkResult result = api.vkCreateDevice(gpu.handle, &info, nullptr, &made->device_);
  if (result != VK_SUCCESS)
    return error(ErrorCode::unsupported, "{} ({}) cannot be used: {}", gpu.name, gpu.description,
                 text_of(result));
  made->api_ = device_api(api.vkGetDeviceProcAddr, made->device_);
  made->api_.vkGetDeviceQueue(made->device_, gpu.family, 0, &made->queue_);
  return made;
}

LogicalDevice::~LogicalDevice() {
  if (device_ != VK_NULL_HANDLE) api_.vkDestroyDevice(device_, nullptr);
}

}  // namespace spectr::vulkan
