#include "spectr/backend/vulkan/buffer.h"

#include <algorithm>
#include <new>

#include "spectr/base/numeric.h"

namespace spectr::vulkan {

Buffer::Buffer(const LogicalDevice& device, std::size_t bytes, Place place) : device_(device) {
  if (make(bytes, place) == VK_SUCCESS) return;
  destroy();
  throw std::bad_alloc();
}

VkResult Buffer::make(std::size_t bytes, Place place) {
  const DeviceApi& api = device_.api();
  auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = round_up(std::max<std::size_t>(bytes, 1), 16);  // kernels read whole vectors
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  if (const VkResult made = api.vkCreateBuffer(device_.handle(), &info, nullptr, &buffer_);
      made != VK_SUCCESS) {
    return made;
  }
  VkMemoryRequirements needs = {};
  api.vkGetBufferMemoryRequirements(device_.handle(), buffer_, &needs);
  constexpr VkMemoryPropertyFlags shared =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const bool is_own = place == Place::device;
  const int type = device_.gpu().memory_type(
      needs.memoryTypeBits, is_own ? VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT} : shared,
      place == Place::download ? VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_CACHED_BIT} : 0);
  if (type < 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  auto memory = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  memory.allocationSize = needs.size;
  memory.memoryTypeIndex = static_cast<std::uint32_t>(type);
  VkResult made = api.vkAllocateMemory(device_.handle(), &memory, nullptr, &memory_);
  if (made == VK_SUCCESS) made = api.vkBindBufferMemory(device_.handle(), buffer_, memory_, 0);
  if (made != VK_SUCCESS || is_own) return made;
  void* seen = nullptr;
  made = api.vkMapMemory(device_.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &seen);
  data_ = static_cast<std::byte*>(seen);
  return made;
}

void Buffer::destroy() {
  device_.api().vkDestroyBuffer(device_.handle(), buffer_, nullptr);
  device_.api().vkFreeMemory(device_.handle(), memory_, nullptr);
}

Buffer::~Buffer() {
  destroy();
}

}  // namespace spectr::vulkan
