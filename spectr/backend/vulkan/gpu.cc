#include "spectr/backend/vulkan/gpu.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace spectr::vulkan {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};
constexpr std::uint32_t least_invocations = 512, least_shared_bytes = 32 << 10, least_bindings = 8,
                        least_parameters = 128;

std::uint32_t family_that_computes(const InstanceApi& api, VkPhysicalDevice handle) {
  std::uint32_t count = 0;
  api.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
  std::uint32_t found = none;
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    if (found == none || (flags & VK_QUEUE_GRAPHICS_BIT) == 0) found = i;
  }
  return found;
}

bool has_extension(const InstanceApi& api, VkPhysicalDevice handle, const char* name) {
  std::uint32_t count = 0;
  api.vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  api.vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, all.data());
  return std::ranges::any_of(all, [name](const auto& one) {
    return std::strcmp(static_cast<const char*>(one.extensionName), name) == 0;
  });
}

std::string missing_of(const VkPhysicalDeviceProperties& of, const VkPhysicalDeviceVulkan12Properties& of_1_2,
                       const VkPhysicalDeviceVulkan13Features& features, std::uint32_t family) {
  const VkPhysicalDeviceLimits& limits = of.limits;
  if (of.apiVersion < VK_API_VERSION_1_3) {
    return fmt::format("Vulkan {}.{}, but 1.3 is needed", VK_API_VERSION_MAJOR(of.apiVersion),
                       VK_API_VERSION_MINOR(of.apiVersion));
  }
  const auto too_few = [](std::uint32_t has, std::uint32_t needs, const char* what) {
    return has < needs ? fmt::format("{} {}, but {} are needed", has, what, needs) : std::string();
  };
  for (const std::string& text : std::vector{
           too_few(limits.maxComputeWorkGroupInvocations, least_invocations, "invocations of a group"),
           too_few(limits.maxComputeSharedMemorySize, least_shared_bytes, "bytes of shared memory"),
           too_few(limits.maxPerStageDescriptorStorageBuffers, least_bindings, "storage buffers of a kernel"),
           too_few(limits.maxPushConstantsSize, least_parameters, "bytes of push constants")}) {
    if (!text.empty()) return text;
  }
  const auto absent = [](const char* what) { return fmt::format("no {}, which is needed", what); };
  if (family == none) return absent("queue that computes");
  if (features.shaderIntegerDotProduct == VK_FALSE) return absent("shaderIntegerDotProduct");
  if (features.maintenance4 == VK_FALSE) return absent("maintenance4");
  if (of_1_2.shaderRoundingModeRTEFloat32 == VK_FALSE) return absent("shaderRoundingModeRTEFloat32");
  if (of_1_2.shaderSignedZeroInfNanPreserveFloat32 == VK_FALSE)
    return absent("shaderSignedZeroInfNanPreserveFloat32");
  return {};
}

}  // namespace

Gpu Gpu::describe(const InstanceApi& api, VkPhysicalDevice handle, std::size_t ordinal) {
  auto of_1_2 =
      structure<VkPhysicalDeviceVulkan12Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  auto properties_1_3 =
      structure<VkPhysicalDeviceVulkan13Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES);
  of_1_2.pNext = &properties_1_3;
  auto properties = structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &of_1_2;
  api.vkGetPhysicalDeviceProperties2(handle, &properties);
  auto of_1_3 =
      structure<VkPhysicalDeviceVulkan13Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  auto features = structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  features.pNext = &of_1_3;
  api.vkGetPhysicalDeviceFeatures2(handle, &features);
  auto memory =
      structure<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  api.vkGetPhysicalDeviceMemoryProperties2(handle, &memory);
  const VkPhysicalDeviceProperties& of = properties.properties;
  const std::uint32_t family = family_that_computes(api, handle);
  return {.handle = handle,
          .name = fmt::format("Vulkan{}", ordinal),
          .description = static_cast<const char*>(of.deviceName),
          .is_processor = of.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
          .has_budget = has_extension(api, handle, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME),
          .family = family,
          .memory = memory.memoryProperties,
          .buffer_bytes = properties_1_3.maxBufferSize,
          .binding = {.alignment = of.limits.minStorageBufferOffsetAlignment,
                      .bytes = of.limits.maxStorageBufferRange},
          .missing = missing_of(of, of_1_2, of_1_3, family)};
}

std::uint32_t Gpu::heap() const {
  std::uint32_t largest = 0;
  VkDeviceSize bytes = 0;
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0 || heap.size <= bytes) continue;
    largest = i;
    bytes = heap.size;
  }
  return largest;
}

DeviceInfo Gpu::info(const InstanceApi& api) const {
  const std::size_t bytes = memory.memoryHeaps[heap()].size;
  DeviceInfo info{name, description, bytes, bytes, is_processor};
  if (!has_budget) return info;
  auto budget = structure<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  auto now =
      structure<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  now.pNext = &budget;
  api.vkGetPhysicalDeviceMemoryProperties2(handle, &now);
  const std::size_t most = budget.heapBudget[heap()], used = budget.heapUsage[heap()];
  info.free_bytes = most > used ? most - used : 0;
  return info;
}

int Gpu::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked) const {
  const bool is_own = (wanted & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
  int found = -1;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryType& type = memory.memoryTypes[i];
    if ((allowed >> i & 1) == 0 || (type.propertyFlags & wanted) != wanted) continue;
    if (is_own && type.heapIndex != heap()) continue;
    if ((type.propertyFlags & liked) == liked) return static_cast<int>(i);
    if (found < 0) found = static_cast<int>(i);
  }
  return found;
}

}  // namespace spectr::vulkan
