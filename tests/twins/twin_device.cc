#include "tests/twins/twin_device.h"

#include <cstring>
#include <new>
#include <vector>

#include "spectr/backend/device/device_backend.h"
#include "spectr/base/check.h"
#include "tests/twins/twin_calls.h"

namespace spectr {

/// Host memory that is charged to the device.
class TwinDevice::Memory final : public twin::HostMemory {
 public:
  Memory(TwinDevice& device, std::size_t bytes) : HostMemory(bytes), device_(device) {}
  ~Memory() override {
    const std::lock_guard lock(device_.mutex_);
    device_.taken_ -= bytes();
  }

 private:
  TwinDevice& device_;
};

namespace {

class TwinRecording final : public Recording {
 public:
  explicit TwinRecording(std::span<const call::AnyCall> all) : calls(all.begin(), all.end()) {}
  std::vector<call::AnyCall> calls;
};

}  // namespace

TwinDevice::TwinDevice(std::size_t bytes, twin::Rounding rounding) : rounding_(rounding), bytes_(bytes) {}

DeviceInfo TwinDevice::info() const {
  const std::lock_guard lock(mutex_);
  return {"twins", "plain loops on the processor", bytes_, bytes_ - taken_};
}

const Caps& TwinDevice::caps() const {
  static const Caps caps = device_caps("twins");
  return caps;
}

std::unique_ptr<DeviceMemory> TwinDevice::allocate(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes + withheld_ > bytes_ - taken_) throw std::bad_alloc();
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

Result<void> TwinDevice::check() const {
  if (lost_) return error(ErrorCode::device_lost, "twins: the device was lost during a pass");
  return {};
}

Result<void> TwinDevice::upload(const Slice& to, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(check());
  if (!bytes.empty()) std::memcpy(twin::numbers_at<std::byte>(to, bytes.size()), bytes.data(), bytes.size());
  return {};
}

Result<void> TwinDevice::download(std::span<std::byte> to, const Slice& from) {
  return run_and_download({}, to, from);
}

Result<void> TwinDevice::copy(std::span<const DeviceCopy> copies) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(check());
  ++waits_;
  for (const auto& [to, from, bytes] : copies)
    std::memmove(twin::numbers_at<std::byte>(to, bytes), twin::numbers_at<std::byte>(from, bytes), bytes);
  return {};
}

Result<std::unique_ptr<Recording>> TwinDevice::record(std::span<const call::AnyCall> calls) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(check());
  ++recorded_;
  return std::make_unique<TwinRecording>(calls);
}

Result<void> TwinDevice::run(const Recording& recording) {
  return run(static_cast<const TwinRecording&>(recording).calls);
}

Result<void> TwinDevice::run(std::span<const call::AnyCall> calls) {
  return run_and_download(calls, {}, {});
}

Result<void> TwinDevice::run_and_download(std::span<const call::AnyCall> calls, std::span<std::byte> to,
                                          const Slice& from) {
  const std::lock_guard lock(mutex_);
  SPECTR_TRY_VOID(check());
  ++waits_;
  for (const call::AnyCall& call : calls) twin::run(call, rounding_);
  if (!to.empty()) std::memcpy(to.data(), twin::numbers_at<std::byte>(from, to.size()), to.size());
  return {};
}

}  // namespace spectr
