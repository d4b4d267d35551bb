#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "spectr/backend/device/device.h"
#include "spectr/backend/vulkan/buffer.h"
#include "spectr/backend/vulkan/commands.h"
#include "spectr/backend/vulkan/dispatch.h"
#include "spectr/backend/vulkan/pipelines.h"

namespace spectr::vulkan {

/// A GPU used through Vulkan. A pass is recorded once as a command buffer with the required barriers, and is
/// submitted together with the uploads since the last one: one submission per pass. Calls that are followed
/// by a download, which are questions about logits, are recorded once, too.
class VulkanDevice final : public Device {
 public:
  /// `limits` can be lower than the device's. Errors: an unmet requirement, or an error of the driver.
  static Result<std::shared_ptr<VulkanDevice>> open(std::shared_ptr<const Instance> instance, const Gpu& gpu,
                                                    const DispatchLimits& limits);
  static Result<std::shared_ptr<VulkanDevice>> open(std::shared_ptr<const Instance> instance,
                                                    const Gpu& gpu) {
    return open(std::move(instance), gpu, gpu.limits);
  }
  ~VulkanDevice() override;

  DeviceInfo info() const override;
  const Caps& caps() const override;
  std::size_t largest_piece() const override { return limits_.bytes; }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override;
  Result<void> upload(const Slice& to, std::span<const std::byte> bytes) override;
  Result<void> download(std::span<std::byte> to, const Slice& from) override;
  using Device::copy;
  Result<void> copy(std::span<const DeviceCopy> copies) override;
  Result<std::unique_ptr<Recording>> record(std::span<const call::AnyCall> calls) override;
  Result<void> run(const Recording& recording) override;
  Result<void> run(std::span<const call::AnyCall> calls) override;
  Result<void> run_and_download(std::span<const call::AnyCall> calls, std::span<std::byte> to,
                                const Slice& from) override;

  /// Returns the number of submissions so far.
  std::size_t submitted() const { return submitted_; }
  /// Returns the number of command buffers recorded so far, without those of transfers.
  std::size_t recorded() const { return recorded_; }

 private:
  class Memory;
  /// A staged copy from the upload buffer to device memory.
  struct Upload {
    Slice to;
    std::size_t from, bytes;
  };
  /// Calls with a download, and their recording.
  struct Question {
    std::vector<Dispatch> dispatches;
    Slice downloaded;
    std::size_t bytes;
    std::unique_ptr<Commands> commands;
  };

  VulkanDevice(std::unique_ptr<const LogicalDevice> device, const DispatchLimits& limits)
      : device_(std::move(device)), limits_(limits), pipelines_(*device_), transfers_(*device_) {}
  Result<void> begin();
  Result<void> check(VkResult result);
  /// Returns an error if the device is lost.
  Result<void> state() const;
  void forget(const Memory& memory);
  static VkBuffer buffer_of(const Slice& slice);
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after) const;
  Result<void> begin_transfers();
  void copy_within(VkCommandBuffer commands, VkBuffer to, std::size_t to_offset, VkBuffer from,
                   std::size_t from_offset, std::size_t bytes) const;
  void copy_to_host(VkCommandBuffer commands, const Slice& from, std::size_t bytes) const;
  Result<void> download_rest(std::span<std::byte> to, const Slice& from);
  Result<void> submit_transfers();
  Result<void> submit(std::span<const VkCommandBuffer> commands);
  Result<void> lower(std::span<const call::AnyCall> calls);
  Result<std::unique_ptr<Commands>> record_all(const Slice& downloaded = {}, std::size_t bytes = 0);
  Result<const Commands*> question(const Slice& downloaded, std::size_t bytes);
  Result<void> record_dispatches(Commands& commands);
  void bind(const Dispatch& dispatch, VkDescriptorSet set) const;
  Result<void> run_all(const Commands& commands);

  std::unique_ptr<const LogicalDevice> device_;
  DispatchLimits limits_;
  mutable std::mutex mutex_;  // guards the members below, and orders work
  Pipelines pipelines_;
  Commands transfers_;
  VkFence fence_ = VK_NULL_HANDLE;
  std::unique_ptr<Buffer> uploads_, downloads_, nothing_;
  std::vector<Upload> pending_;
  std::size_t uploaded_ = 0;  // bytes of uploads_ in use by pending_
  std::size_t taken_ = 0;     // allocated bytes of device memory
  std::size_t submitted_ = 0, recorded_ = 0;
  std::vector<Dispatch> dispatches_;
  std::vector<Question> questions_;  // the latest ones
  bool lost_ = false;
};

}  // namespace spectr::vulkan
