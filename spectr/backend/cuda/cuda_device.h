#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "spectr/backend/cuda/driver.h"
#include "spectr/backend/cuda/launch.h"
#include "spectr/backend/device/device.h"

namespace spectr::cuda {

/// What `spectr` calls the devices of a driver: CUDA0, CUDA1, …
std::string name_of_device(int ordinal);

/// The devices of a driver, by ordinal. Error: the driver's.
Result<std::vector<DeviceInfo>> devices(const Driver& driver);

/// A GPU by CUDA. Passes are graphs, and kernels begin before their predecessors have ended.
class CudaDevice final : public Device {
 public:
  /// `image`: the kernels as PTX. The driver must outlive it. Error: a GPU or a driver that lacks what
  /// kernels need, with what it has; or the driver's.
  static Result<std::shared_ptr<CudaDevice>> open(const Driver& driver, int ordinal, const char* image);
  ~CudaDevice() override;

  DeviceInfo info() const override;
  const Caps& caps() const override;
  bool has_heads_of(std::size_t dimensions) const override;
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

 private:
  class Memory;
  class Graph;

  CudaDevice(const Driver& driver, int ordinal) : driver_(driver), name_(name_of_device(ordinal)) {}
  Result<void> begin(int ordinal, const char* image);
  std::unique_lock<std::mutex> use() const;
  Result<void> check(CUresult result) const;
  CUdeviceptr address_of(const Slice& slice) const;
  Result<CUfunction> function(const Launch& launch);
  Result<void> launch_all(std::span<const call::AnyCall> calls);
  Result<void> launch(const Launch& launch);

  const Driver& driver_;
  std::string name_, description_;
  CUdevice device_ = 0;
  bool is_retained_ = false;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUstream stream_ = nullptr;
  Processors processors_ = {};
  mutable std::mutex mutex_;  // of what follows, and of the order of work
  std::map<std::string, CUfunction> functions_;
  std::vector<Launch> launches_;
};

}  // namespace spectr::cuda
