#include "spectr/backend/vulkan/pipelines.h"

#include <array>

namespace spectr::vulkan {

VkResult Pipelines::begin() {
  const DeviceApi& api = device_.api();
  std::array<VkDescriptorSetLayoutBinding, bindings> all = {};
  for (std::uint32_t i = 0; i < bindings; ++i) {
    all[i].binding = i;
    all[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    all[i].descriptorCount = 1;
    all[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  auto set = structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
  set.bindingCount = bindings;
  set.pBindings = all.data();
  const VkResult result = api.vkCreateDescriptorSetLayout(device_.handle(), &set, nullptr, &set_layout_);
  if (result != VK_SUCCESS) return result;
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, parameter_bytes};
  auto layout = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  return api.vkCreatePipelineLayout(device_.handle(), &layout, nullptr, &layout_);
}

Pipelines::~Pipelines() {
  const DeviceApi& api = device_.api();
  for (const auto& [key, pipeline] : made_) api.vkDestroyPipeline(device_.handle(), pipeline, nullptr);
  api.vkDestroyPipelineLayout(device_.handle(), layout_, nullptr);
  api.vkDestroyDescriptorSetLayout(device_.handle(), set_layout_, nullptr);
}

VkResult Pipelines::make(const Dispatch& dispatch, VkPipeline& pipeline) const {
  const DeviceApi& api = device_.api();
  const KernelCode& code = code_of(dispatch.kernel);
  auto module = structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module.codeSize = code.words.size_bytes();
  module.pCode = code.words.data();
  VkShaderModule shader = VK_NULL_HANDLE;
  VkResult result = api.vkCreateShaderModule(device_.handle(), &module, nullptr, &shader);
  if (result != VK_SUCCESS) return result;
  std::vector<VkSpecializationMapEntry> entries;
  for (std::uint32_t i = 0; i < dispatch.constants.size(); ++i)
    entries.push_back({i, i * 4, sizeof(std::uint32_t)});
  const VkSpecializationInfo constants{static_cast<std::uint32_t>(entries.size()), entries.data(),
                                       4 * entries.size(), dispatch.constants.data()};
  auto info = structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.stage =
      structure<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = layout_;
  auto size = structure<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
  if (dispatch.subgroup > 0) {
    size.requiredSubgroupSize = dispatch.subgroup;
    info.stage.pNext = &size;
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  result = api.vkCreateComputePipelines(device_.handle(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
  api.vkDestroyShaderModule(device_.handle(), shader, nullptr);
  return result;
}

Result<VkPipeline> Pipelines::of(const Dispatch& dispatch) {
  const auto [at, is_new] = made_.try_emplace({dispatch.kernel, dispatch.constants}, VK_NULL_HANDLE);
  if (!is_new) return at->second;
  if (const VkResult result = make(dispatch, at->second); result != VK_SUCCESS) {
    made_.erase(at);
    return error(ErrorCode::internal, "{}: the kernel {} cannot be made: {}", device_.gpu().name,
                 code_of(dispatch.kernel).name, text_of(result));
  }
  return at->second;
}

}  // namespace spectr::vulkan
