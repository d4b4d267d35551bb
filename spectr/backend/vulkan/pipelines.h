#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "spectr/backend/vulkan/dispatch.h"
#include "spectr/backend/vulkan/logical_device.h"

namespace spectr::vulkan {

/// A device's compute pipelines, created on first use. All share one layout: storage buffers 0 … 7 and up to
/// 128 bytes of push constants.
class Pipelines {
 public:
  static constexpr std::uint32_t bindings = 8, parameter_bytes = 128;

  /// The device must outlive it.
  explicit Pipelines(const LogicalDevice& device) : device_(device) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// Must be called once, before everything else.
  VkResult begin();
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout layout() const { return layout_; }
  /// Returns the pipeline of a dispatch. Error: names the kernel and the driver's result.
  Result<VkPipeline> of(const Dispatch& dispatch);

 private:
  VkResult make(const Dispatch& dispatch, VkPipeline& pipeline) const;

  const LogicalDevice& device_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::map<std::pair<Kernel, std::vector<std::uint32_t>>, VkPipeline> made_;  // by kernel and constants
};

}  // namespace spectr::vulkan
