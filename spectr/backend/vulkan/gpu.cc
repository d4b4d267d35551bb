#include "spectr/backend/vulkan/gpu.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <span>
#include <tuple>
#include <vector>

namespace spectr::vulkan {
namespace {

constexpr std::uint32_t no_family = ~std::uint32_t{0};
constexpr std::uint32_t min_invocations = 512, min_shared_bytes = 32 << 10, min_bindings = 8,
                        min_parameters = 128;

std::uint32_t family_that_computes(const InstanceApi& api, VkPhysicalDevice handle) {
  std::uint32_t count = 0;
  api.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
  std::uint32_t found = no_family;
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    if (found == no_family || (flags & VK_QUEUE_GRAPHICS_BIT) == 0) found = i;
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
           too_few(limits.maxComputeWorkGroupInvocations, min_invocations, "invocations of a group"),
           too_few(limits.maxComputeSharedMemorySize, min_shared_bytes, "bytes of shared memory"),
           too_few(limits.maxPerStageDescriptorStorageBuffers, min_bindings, "storage buffers of a kernel"),
           too_few(limits.maxPushConstantsSize, min_parameters, "bytes of push constants")}) {
    if (!text.empty()) return text;
  }
  const auto absent = [](const char* what) { return fmt::format("no {}, which is needed", what); };
  if (family == no_family) return absent("queue that computes");
  if (features.shaderIntegerDotProduct == VK_FALSE) return absent("shaderIntegerDotProduct");
  if (features.maintenance4 == VK_FALSE) return absent("maintenance4");
  if (of_1_2.shaderRoundingModeRTEFloat32 == VK_FALSE) return absent("shaderRoundingModeRTEFloat32");
  if (of_1_2.shaderSignedZeroInfNanPreserveFloat32 == VK_FALSE)
    return absent("shaderSignedZeroInfNanPreserveFloat32");
  return {};
}

/// Returns the matrix shape with the most multiplications per subgroup operation, and among these the fewest
/// columns. None if the device or its driver lacks a feature that the kernel needs.
std::optional<Matrices> matrices_of(const InstanceApi& api, VkPhysicalDevice handle,
                                    const VkPhysicalDeviceVulkan11Properties& of_1_1,
                                    const VkPhysicalDeviceVulkan13Properties& of_1_3,
                                    const VkPhysicalDeviceVulkan13Features& features_1_3) {
  if (api.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR == nullptr ||
      !has_extension(api, handle, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME))
    return std::nullopt;
  auto of_matrices = structure<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  auto of_1_2 =
      structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  of_1_2.pNext = &of_matrices;
  auto features = structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  features.pNext = &of_1_2;
  api.vkGetPhysicalDeviceFeatures2(handle, &features);
  const bool has_all =
      of_matrices.cooperativeMatrix == VK_TRUE && of_1_2.shaderInt8 == VK_TRUE &&
      of_1_2.vulkanMemoryModel == VK_TRUE && of_1_2.vulkanMemoryModelDeviceScope == VK_TRUE &&
      features_1_3.subgroupSizeControl == VK_TRUE && features_1_3.computeFullSubgroups == VK_TRUE;
  const std::uint32_t subgroup = of_1_1.subgroupSize;
  if (!has_all || (of_1_3.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0 || subgroup < 8 ||
      subgroup > 128)
    return std::nullopt;

  std::uint32_t count = 0;
  api.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(handle, &count, nullptr);
  std::vector<VkCooperativeMatrixPropertiesKHR> all(
      count,
      structure<VkCooperativeMatrixPropertiesKHR>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR));
  api.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(handle, &count, all.data());
  std::optional<Matrices> best;
  const auto order = [](const Matrices& one) { return std::tuple(one.rows * one.depth, -int(one.columns)); };
  for (const auto& one : all) {
    const auto is_among = [](std::uint32_t size, std::initializer_list<std::uint32_t> sizes) {
      return std::ranges::find(sizes, size) != sizes.end();
    };
    const bool multiplies_bytes =
        one.AType == VK_COMPONENT_TYPE_SINT8_KHR && one.BType == VK_COMPONENT_TYPE_SINT8_KHR &&
        one.CType == VK_COMPONENT_TYPE_SINT32_KHR && one.ResultType == VK_COMPONENT_TYPE_SINT32_KHR;
    if (!multiplies_bytes || one.saturatingAccumulation == VK_TRUE || one.scope != VK_SCOPE_SUBGROUP_KHR ||
        !is_among(one.MSize, {8, 16}) || !is_among(one.NSize, {8, 16}) || !is_among(one.KSize, {8, 16, 32}))
      continue;
    const Matrices found{one.MSize, one.NSize, one.KSize, subgroup};
    if (!best || order(found) > order(*best)) best = found;
  }
  return best;
}

}  // namespace

Gpu Gpu::describe(const InstanceApi& api, VkPhysicalDevice handle, std::size_t ordinal) {
  auto of_1_2 =
      structure<VkPhysicalDeviceVulkan12Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  auto properties_1_3 =
      structure<VkPhysicalDeviceVulkan13Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES);
  auto properties_1_1 =
      structure<VkPhysicalDeviceVulkan11Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  of_1_2.pNext = &properties_1_3;
  properties_1_3.pNext = &properties_1_1;
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
          .limits = {.alignment = of.limits.minStorageBufferOffsetAlignment,
                     .bytes = of.limits.maxStorageBufferRange,
                     .shared_bytes = of.limits.maxComputeSharedMemorySize,
                     .matrices = matrices_of(api, handle, properties_1_1, properties_1_3, of_1_3)},
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
