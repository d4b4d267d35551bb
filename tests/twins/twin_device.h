#pragma once

#include <mutex>

#include "spectr/backend/device/device.h"
#include "tests/twins/twins.h"

namespace spectr {

/// A device that is none: kernel calls are run by their twins, in this process's memory. It shows what every
/// device computes, bit for bit, and lets whole passes be tested where there is no device. Slow.
class TwinDevice final : public Device {
 public:
  /// With so many bytes of memory.
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

  /// From now on it is lost.
  void lose() { lost_ = true; }
  /// How many recordings were made.
  int recorded() const { return recorded_; }
  /// How often passes and callers waited for it.
  int waits() const { return waits_; }

 private:
  class Memory;
  Result<void> check() const;

  const twin::Rounding rounding_;
  mutable std::mutex mutex_;
  std::size_t bytes_, taken_ = 0;
  bool lost_ = false;
  int recorded_ = 0, waits_ = 0;
};

}  // namespace spectr
