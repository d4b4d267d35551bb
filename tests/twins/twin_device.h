#pragma once

#include <mutex>

#include "spectr/backend/device/device.h"
#include "tests/twins/twins.h"

namespace spectr {

/// A simulated device: kernel calls are executed by their twins in this process's memory. It computes the
/// same bits as every device, and allows tests of whole passes without a device. Slow.
class TwinDevice final : public Device {
 public:
  /// Creates a device with `bytes` bytes of memory.
  explicit TwinDevice(std::size_t bytes = std::size_t{1} << 40,
                      twin::Rounding rounding = twin::Rounding::fused);

  DeviceInfo info() const override;
  const Caps& caps() const override;
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

  /// Makes the last `bytes` free bytes fail to be allocated, as if free memory were in pieces.
  void withhold(std::size_t bytes) { withheld_ = bytes; }
  /// Makes the device lost from now on.
  void lose() { lost_ = true; }
  /// Returns the number of recordings made.
  int recorded() const { return recorded_; }
  /// Returns how often passes and callers have waited for the device.
  int waits() const { return waits_; }

 private:
  class Memory;
  Result<void> check() const;

  const twin::Rounding rounding_;
  mutable std::mutex mutex_;
  std::size_t bytes_, taken_ = 0, withheld_ = 0;
  bool lost_ = false;
  int recorded_ = 0, waits_ = 0;
};

}  // namespace spectr
