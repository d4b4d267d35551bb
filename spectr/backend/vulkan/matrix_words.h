#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

// The declarations of VK_KHR_cooperative_matrix that Vulkan headers before 1.3.255 lack.
#if !defined(VK_KHR_cooperative_matrix)
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"

// NOLINTBEGIN(readability-identifier-naming): Vulkan's names
inline constexpr auto VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR =
    static_cast<VkStructureType>(1000506000);
inline constexpr auto VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR =
    static_cast<VkStructureType>(1000506001);

enum VkComponentTypeKHR { VK_COMPONENT_TYPE_SINT8_KHR = 3, VK_COMPONENT_TYPE_SINT32_KHR = 5 };
enum VkScopeKHR { VK_SCOPE_SUBGROUP_KHR = 3 };

struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void* pNext;
  VkBool32 cooperativeMatrix, cooperativeMatrixRobustBufferAccess;
};

struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void* pNext;
  std::uint32_t MSize, NSize, KSize;
  VkComponentTypeKHR AType, BType, CType, ResultType;
  VkBool32 saturatingAccumulation;
  VkScopeKHR scope;
};

using PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = VkResult(VKAPI_PTR*)(
    VkPhysicalDevice device, std::uint32_t* count, VkCooperativeMatrixPropertiesKHR* all);
// NOLINTEND(readability-identifier-naming)
#endif
