#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "spectr/backend/vulkan/dispatch.h"
#include "spectr/backend/vulkan/logical_device.h"

namespace spectr::vulkan {

/// The kernels of a device, each made when it is first needed. All have one layout: storage buffers 0 … 7 and
/// up to 128 bytes of push constants.
class Pipelines {
 public:
  static constexpr std::uint32_t bindings = 8, parameter_bytes = 128;

  /// The device must outlive it.
  explicit Pipelines(const LogicalDevice& device) : device_(device) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// Before anything else.
  VkResult begin();
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout layout() const { return layout_; }
  /// Error: the kernel's name and the driver's result.
  Result<VkPipeline> of(const Dispatch& dispatch);

 private:
  VkResult make(const Dispatch& dispatch, VkPipeline& pipeline) const;

  const LogicalDevice& device_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::map<std::pair<Kernel, std::vector<std::uint32_t>>, VkPipeline> made_;  // by constants
};

}  // namespace spectr::vulkan
