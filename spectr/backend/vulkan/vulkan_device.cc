#include "spectr/backend/vulkan/vulkan_device.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "spectr/backend/device/device_backend.h"
#include "spectr/base/check.h"

namespace spectr::vulkan {
namespace {

constexpr std::size_t upload_bytes = std::size_t{16} << 20, download_bytes = std::size_t{4} << 20;
constexpr std::size_t max_questions = 32;  // whose recordings are kept
constexpr VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                               transfer = VK_PIPELINE_STAGE_TRANSFER_BIT, host = VK_PIPELINE_STAGE_HOST_BIT;

/// Returns the possible accesses of pipeline stages.
VkAccessFlags accesses(VkPipelineStageFlags stages, bool reads) {
  VkAccessFlags flags = 0;
  if ((stages & compute) != 0) flags |= VK_ACCESS_SHADER_WRITE_BIT | (reads ? VK_ACCESS_SHADER_READ_BIT : 0);
  if ((stages & transfer) != 0)
    flags |= VK_ACCESS_TRANSFER_WRITE_BIT | (reads ? VK_ACCESS_TRANSFER_READ_BIT : 0);
  if ((stages & host) != 0) flags |= VK_ACCESS_HOST_READ_BIT;
  return flags;
}

bool overlap(const Slice& a, std::size_t a_bytes, const Slice& b, std::size_t b_bytes) {
  return a.memory == b.memory && a.offset < b.offset + b_bytes && b.offset < a.offset + a_bytes;
}

}  // namespace

class VulkanDevice::Memory final : public DeviceMemory {
 public:
  /// Throws std::bad_alloc.
  Memory(VulkanDevice& device, std::size_t bytes)
      : DeviceMemory(bytes), device_(device), buffer_(*device.device_, bytes, Place::device) {}
  ~Memory() override { device_.forget(*this); }
  VkBuffer buffer() const { return buffer_.handle(); }

 private:
  VulkanDevice& device_;
  Buffer buffer_;
};

Result<std::shared_ptr<VulkanDevice>> VulkanDevice::open(std::shared_ptr<const Instance> instance,
                                                         const Gpu& gpu, const DispatchLimits& limits) {
  SPECTR_TRY(auto opened, LogicalDevice::open(std::move(instance), gpu));
  std::shared_ptr<VulkanDevice> device(new VulkanDevice(std::move(opened), limits));
  SPECTR_TRY_VOID(device->begin());
  return device;
}

Result<void> VulkanDevice::begin() {
  const DeviceApi& api = device_->api();
  VkResult made = pipelines_.begin();
  if (made == VK_SUCCESS) made = transfers_.make();
  const auto fence = structure<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  if (made == VK_SUCCESS) made = api.vkCreateFence(device_->handle(), &fence, nullptr, &fence_);
  try {
    uploads_ = std::make_unique<Buffer>(*device_, upload_bytes, Place::upload);
    downloads_ = std::make_unique<Buffer>(*device_, download_bytes, Place::download);
    nothing_ = std::make_unique<Buffer>(*device_, 16, Place::device);
  } catch (const std::bad_alloc&) {
    made = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  const Gpu& gpu = device_->gpu();
  if (made != VK_SUCCESS) {
    return error(ErrorCode::unsupported, "{} ({}) cannot be used: {}", gpu.name, gpu.description,
                 text_of(made));
  }
  return {};
}

VulkanDevice::~VulkanDevice() {
  device_->api().vkDestroyFence(device_->handle(), fence_, nullptr);
}

Result<void> VulkanDevice::state() const {
  if (!lost_) return {};
  return error(ErrorCode::device_lost, "{}: the device was lost during a pass (VK_ERROR_DEVICE_LOST)",
               device_->gpu().name);
}

Result<void> VulkanDevice::check(VkResult result) {
  if (result == VK_SUCCESS) return {};
  lost_ = lost_ || result == VK_ERROR_DEVICE_LOST;
  SPECTR_TRY_VOID(state());
  const bool is_memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
  return error(is_memory ? ErrorCode::out_of_memory : ErrorCode::internal, "{}: a pass failed ({})",
               device_->gpu().name, text_of(result));
}

DeviceInfo VulkanDevice::info() const {
  DeviceInfo info = device_->gpu().info(device_->instance().api());
  if (device_->gpu().has_budget) return info;
  const std::lock_guard lock(mutex_);
  info.free_bytes = info.bytes - taken_;
  return info;
}

const Caps& VulkanDevice::caps() const {
  static const Caps caps = device_caps("vulkan");
  return caps;
}

/// Fails if more than the heap would be allocated, which some drivers permit.
std::unique_ptr<DeviceMemory> VulkanDevice::allocate(std::size_t bytes) {
  const Gpu& gpu = device_->gpu();
  const std::size_t heap = gpu.memory.memoryHeaps[gpu.heap()].size;
  if (bytes > gpu.buffer_bytes) throw std::bad_alloc();
  {
    const std::lock_guard lock(mutex_);
    if (bytes > heap - taken_) throw std::bad_alloc();
    taken_ += bytes;
  }
  try {
    return std::make_unique<Memory>(*this, bytes);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    taken_ -= bytes;
    throw;
  }
}

void VulkanDevice::forget(const Memory& memory) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pending_, [&memory](const Upload& one) { return one.to.memory == &memory; });
  std::erase_if(questions_, [&memory](const Question& one) {
    return one.downloaded.memory == &memory ||
           std::ranges::any_of(one.dispatches, [&memory](const Dispatch& dispatch) {
             return std::ranges::any_of(
                 dispatch.bindings, [&memory](const Binding& bound) { return bound.at.memory == &memory; });
           });
  });
  taken_ -= memory.bytes();
}

VkBuffer VulkanDevice::buffer_of(const Slice& slice) {
  return static_cast<const Memory*>(slice.memory)->buffer();
}

/// Records a barrier: stages `after` see the writes of earlier stages `before`.
void VulkanDevice::barrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                           VkPipelineStageFlags after) const {
  auto memory = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  memory.srcAccessMask = accesses(before, false);
  memory.dstAccessMask = accesses(after, true);
  device_->api().vkCmdPipelineBarrier(commands, before, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void VulkanDevice::copy_within(VkCommandBuffer commands, VkBuffer to, std::size_t to_offset, VkBuffer from,
                               std::size_t from_offset, std::size_t bytes) const {
  const VkBufferCopy copy{from_offset, to_offset, bytes};
  device_->api().vkCmdCopyBuffer(commands, from, to, 1, &copy);
}

/// Records a copy to downloads_, after all preceding commands.
void VulkanDevice::copy_to_host(VkCommandBuffer commands, const Slice& from, std::size_t bytes) const {
  barrier(commands, compute | transfer, transfer);
  copy_within(commands, downloads_->handle(), 0, buffer_of(from), from.offset, bytes);
  barrier(commands, transfer, host);
}

/// Begins recording transfers_ with the pending uploads.
Result<void> VulkanDevice::begin_transfers() {
  const auto info = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  SPECTR_TRY_VOID(check(device_->api().vkBeginCommandBuffer(transfers_.buffer, &info)));
  barrier(transfers_.buffer, compute | transfer, transfer);
  for (const Upload& one : pending_)
    copy_within(transfers_.buffer, buffer_of(one.to), one.to.offset, uploads_->handle(), one.from, one.bytes);
  return {};
}

Result<void> VulkanDevice::submit_transfers() {
  SPECTR_TRY_VOID(check(device_->api().vkEndCommandBuffer(transfers_.buffer)));
  return submit({&transfers_.buffer, 1});
}

/// Submits commands and waits until they are complete. Afterwards no uploads are pending.
Result<void> VulkanDevice::submit(std::span<const VkCommandBuffer> commands) {
  const DeviceApi& api = device_->api();
  auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.commandBufferCount = static_cast<std::uint32_t>(commands.size());
  info.pCommandBuffers = commands.data();
  SPECTR_TRY_VOID(check(api.vkQueueSubmit(device_->queue(), 1, &info, fence_)));
  SPECTR_TRY_VOID(check(api.vkWaitForFences(device_->handle(), 1, &fence_, VK_TRUE, UINT64_MAX)));
  SPECTR_TRY_VOID(check(api.vkResetFences(device_->handle(), 1, &fence_)));
  ++submitted_;
  pending_.clear();
  uploaded_ = 0;
  return {};
}

/// Stages the upload, which is executed by the next submission.
Result<void> VulkanDevice::upload(const Slice& to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  SPECTR_CHECK(to.offset + bytes.size() <= to.memory->bytes());
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(state());
  const bool is_again = std::ranges::any_of(
      pending_, [&](const Upload& one) { return overlap(one.to, one.bytes, to, bytes.size()); });
  for (std::size_t done = 0; done < bytes.size();) {
    if (uploaded_ == upload_bytes || (is_again && done == 0)) {
      SPECTR_TRY_VOID(begin_transfers());
      SPECTR_TRY_VOID(submit_transfers());
    }
    const std::size_t part = std::min(upload_bytes - uploaded_, bytes.size() - done);
    std::memcpy(uploads_->data() + uploaded_, bytes.data() + done, part);
    pending_.push_back({to.behind(done), uploaded_, part});
    uploaded_ += part;
    done += part;
  }
  return {};
}

Result<void> VulkanDevice::download(std::span<std::byte> to, const Slice& from) {
  if (to.empty()) return {};
  SPECTR_CHECK(from.offset + to.size() <= from.memory->bytes());
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(state());
  return download_rest(to, from);
}

Result<void> VulkanDevice::download_rest(std::span<std::byte> to, const Slice& from) {
  for (std::size_t done = 0; done < to.size();) {
    const std::size_t part = std::min(download_bytes, to.size() - done);
    SPECTR_TRY_VOID(begin_transfers());
    copy_to_host(transfers_.buffer, from.behind(done), part);
    SPECTR_TRY_VOID(submit_transfers());
    std::memcpy(to.data() + done, downloads_->data(), part);
    done += part;
  }
  return {};
}

Result<void> VulkanDevice::copy(std::span<const DeviceCopy> copies) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(state());
  SPECTR_TRY_VOID(begin_transfers());
  barrier(transfers_.buffer, transfer, transfer);
  for (const auto& [to, from, bytes] : copies) {
    SPECTR_CHECK(to.offset + bytes <= to.memory->bytes() && from.offset + bytes <= from.memory->bytes());
    SPECTR_CHECK(!overlap(to, bytes, from, bytes));
    if (bytes > 0)
      copy_within(transfers_.buffer, buffer_of(to), to.offset, buffer_of(from), from.offset, bytes);
  }
  return submit_transfers();
}

/// Empty operands are bound to an unused buffer, because every descriptor must be valid.
void VulkanDevice::bind(const Dispatch& dispatch, VkDescriptorSet set) const {
  std::vector<VkDescriptorBufferInfo> places;
  for (const Binding& one : dispatch.bindings) {
    if (one.bytes > 0) {
      places.push_back({buffer_of(one.at), one.at.offset, one.bytes});
    } else {
      places.push_back({nothing_->handle(), 0, VK_WHOLE_SIZE});
    }
  }
  auto write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
  write.dstSet = set;
  write.descriptorCount = static_cast<std::uint32_t>(places.size());
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = places.data();
  device_->api().vkUpdateDescriptorSets(device_->handle(), 1, &write, 0, nullptr);
}

/// Records dispatches_, with barriers where hazards require them.
Result<void> VulkanDevice::record_dispatches(Commands& commands) {
  const DeviceApi& api = device_->api();
  const auto count = static_cast<std::uint32_t>(dispatches_.size());
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  std::max(count, 1u) * Pipelines::bindings};
  auto pool = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  pool.maxSets = std::max(count, 1u);
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  SPECTR_TRY_VOID(check(api.vkCreateDescriptorPool(device_->handle(), &pool, nullptr, &commands.sets)));
  const std::vector<VkDescriptorSetLayout> layouts(count, pipelines_.set_layout());
  std::vector<VkDescriptorSet> sets(count);
  auto info = structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
  info.descriptorPool = commands.sets;
  info.descriptorSetCount = count;
  info.pSetLayouts = layouts.data();
  if (count > 0) SPECTR_TRY_VOID(check(api.vkAllocateDescriptorSets(device_->handle(), &info, sets.data())));
  Hazards hazards;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Dispatch& one = dispatches_[i];
    SPECTR_TRY(VkPipeline pipeline, pipelines_.of(one));
    bind(one, sets[i]);
    if (hazards.need_barrier(one)) barrier(commands.buffer, compute, compute);
    api.vkCmdBindPipeline(commands.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    api.vkCmdBindDescriptorSets(commands.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0, 1,
                                &sets[i], 0, nullptr);
    api.vkCmdPushConstants(commands.buffer, pipelines_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<std::uint32_t>(one.parameters.size() * sizeof(std::uint32_t)),
                           one.parameters.data());
    api.vkCmdDispatch(commands.buffer, one.groups_x, one.groups_y, 1);
  }
  return {};
}

/// Converts calls to dispatches_.
Result<void> VulkanDevice::lower(std::span<const call::AnyCall> calls) {
  SPECTR_TRY_VOID(state());
  dispatches_.clear();
  for (const call::AnyCall& call : calls) {
    if (const Result<void> added = add_dispatches(call, limits_, dispatches_); !added)
      return error(added.error().code, "{}: {}", device_->gpu().name, added.error().message);
  }
  return {};
}

/// Records dispatches_, followed by a copy of `downloaded` to downloads_.
Result<std::unique_ptr<Commands>> VulkanDevice::record_all(const Slice& downloaded, std::size_t bytes) {
  ++recorded_;
  auto commands = std::make_unique<Commands>(*device_);
  SPECTR_TRY_VOID(check(commands->make()));
  const auto info = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  SPECTR_TRY_VOID(check(device_->api().vkBeginCommandBuffer(commands->buffer, &info)));
  barrier(commands->buffer, compute | transfer, compute);
  SPECTR_TRY_VOID(record_dispatches(*commands));
  if (bytes > 0) copy_to_host(commands->buffer, downloaded, bytes);
  SPECTR_TRY_VOID(check(device_->api().vkEndCommandBuffer(commands->buffer)));
  return commands;
}

/// Returns the recording of dispatches_ with a download, which is made if it is not kept.
Result<const Commands*> VulkanDevice::question(const Slice& downloaded, std::size_t bytes) {
  const auto found = std::ranges::find_if(questions_, [&](const Question& one) {
    return one.downloaded == downloaded && one.bytes == bytes && one.dispatches == dispatches_;
  });
  if (found != questions_.end()) return found->commands.get();
  SPECTR_TRY(std::unique_ptr<Commands> commands, record_all(downloaded, bytes));
  if (questions_.size() == max_questions) questions_.erase(questions_.begin());
  questions_.push_back({dispatches_, downloaded, bytes, std::move(commands)});
  return questions_.back().commands.get();
}

Result<void> VulkanDevice::run_all(const Commands& commands) {
  if (pending_.empty()) return submit({&commands.buffer, 1});
  SPECTR_TRY_VOID(begin_transfers());
  SPECTR_TRY_VOID(check(device_->api().vkEndCommandBuffer(transfers_.buffer)));
  return submit(std::array{transfers_.buffer, commands.buffer});
}

Result<std::unique_ptr<Recording>> VulkanDevice::record(std::span<const call::AnyCall> calls) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(lower(calls));
  return record_all();
}

Result<void> VulkanDevice::run(const Recording& recording) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(state());
  return run_all(static_cast<const Commands&>(recording));
}

Result<void> VulkanDevice::run(std::span<const call::AnyCall> calls) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(lower(calls));
  SPECTR_TRY(const std::unique_ptr<Commands> commands, record_all());
  return run_all(*commands);
}

Result<void> VulkanDevice::run_and_download(std::span<const call::AnyCall> calls, std::span<std::byte> to,
                                            const Slice& from) {
  SPECTR_CHECK(from.offset + to.size() <= from.memory->bytes());
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = std::min(to.size(), download_bytes);
  SPECTR_TRY_VOID(lower(calls));
  SPECTR_TRY(const Commands* const commands, question(from, bytes));
  SPECTR_TRY_VOID(run_all(*commands));
  std::memcpy(to.data(), downloads_->data(), bytes);
  return download_rest(to.subspan(bytes), from.behind(bytes));
}

}  // namespace spectr::vulkan
