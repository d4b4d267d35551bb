#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>

#include "spectr/backend/vulkan/matrix_words.h"
#include "spectr/base/result.h"

/// The parts of Vulkan in use. Building needs only the Vulkan headers; running needs only the loader, which
/// is loaded at run time.
namespace spectr::vulkan {

#define SPECTR_OF_INSTANCES(X)                \
  X(vkDestroyInstance)                        \
  X(vkEnumeratePhysicalDevices)               \
  X(vkEnumerateDeviceExtensionProperties)     \
  X(vkGetPhysicalDeviceProperties2)           \
  X(vkGetPhysicalDeviceFeatures2)             \
  X(vkGetPhysicalDeviceMemoryProperties2)     \
  X(vkGetPhysicalDeviceQueueFamilyProperties) \
  X(vkCreateDevice)                           \
  X(vkGetDeviceProcAddr)

#define SPECTR_OF_DEVICES(X)       \
  X(vkDestroyDevice)               \
  X(vkGetDeviceQueue)              \
  X(vkCreateBuffer)                \
  X(vkDestroyBuffer)               \
  X(vkGetBufferMemoryRequirements) \
  X(vkAllocateMemory)              \
  X(vkFreeMemory)                  \
  X(vkBindBufferMemory)            \
  X(vkMapMemory)                   \
  X(vkCreateShaderModule)          \
  X(vkDestroyShaderModule)         \
  X(vkCreateDescriptorSetLayout)   \
  X(vkDestroyDescriptorSetLayout)  \
  X(vkCreatePipelineLayout)        \
  X(vkDestroyPipelineLayout)       \
  X(vkCreateComputePipelines)      \
  X(vkDestroyPipeline)             \
  X(vkCreateDescriptorPool)        \
  X(vkDestroyDescriptorPool)       \
  X(vkAllocateDescriptorSets)      \
  X(vkUpdateDescriptorSets)        \
  X(vkCreateCommandPool)           \
  X(vkDestroyCommandPool)          \
  X(vkAllocateCommandBuffers)      \
  X(vkFreeCommandBuffers)          \
  X(vkBeginCommandBuffer)          \
  X(vkEndCommandBuffer)            \
  X(vkCmdBindPipeline)             \
  X(vkCmdBindDescriptorSets)       \
  X(vkCmdPushConstants)            \
  X(vkCmdDispatch)                 \
  X(vkCmdPipelineBarrier)          \
  X(vkCmdCopyBuffer)               \
  X(vkCreateFence)                 \
  X(vkDestroyFence)                \
  X(vkResetFences)                 \
  X(vkWaitForFences)               \
  X(vkQueueSubmit)

#define SPECTR_MEMBER(name) PFN_##name name = nullptr;
/// The functions of an instance. All are set, except the last if no driver supports cooperative matrices.
struct InstanceApi {
  SPECTR_OF_INSTANCES(SPECTR_MEMBER)
  SPECTR_MEMBER(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)
};
/// The functions of a device. All are set.
struct DeviceApi {
  SPECTR_OF_DEVICES(SPECTR_MEMBER)
};
#undef SPECTR_MEMBER

/// Returns the loader's function that looks up all others. Error: the library was not found.
Result<PFN_vkGetInstanceProcAddr> load_loader(const std::string& library = "libvulkan.so.1");

InstanceApi instance_api(PFN_vkGetInstanceProcAddr get, VkInstance instance);
DeviceApi device_api(PFN_vkGetDeviceProcAddr get, VkDevice device);

/// Returns a zero-initialized Vulkan structure with the given type.
template <class Structure>
Structure structure(VkStructureType type) {
  Structure all = {};
  all.sType = type;
  return all;
}

/// Returns the name of a result, e.g. "VK_ERROR_DEVICE_LOST".
std::string text_of(VkResult result);

}  // namespace spectr::vulkan
