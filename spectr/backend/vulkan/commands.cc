#include "spectr/backend/vulkan/commands.h"

namespace spectr::vulkan {

Commands::~Commands() {
  device_.api().vkDestroyDescriptorPool(device_.handle(), sets, nullptr);
  device_.api().vkDestroyCommandPool(device_.handle(), pool_, nullptr);
}

VkResult Commands::make() {
  auto pool_info = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool_info.queueFamilyIndex = device_.gpu().family;
  const VkResult made = device_.api().vkCreateCommandPool(device_.handle(), &pool_info, nullptr, &pool_);
  if (made != VK_SUCCESS) return made;
  auto info = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  return device_.api().vkAllocateCommandBuffers(device_.handle(), &info, &buffer);
}

}  // namespace spectr::vulkan
