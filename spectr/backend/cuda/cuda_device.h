#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/backend/cuda/driver.h"
#include "spectr/backend/cuda/kernel_image.h"
#include "spectr/backend/cuda/launch.h"
#include "spectr/backend/device/device.h"

namespace spectr::cuda {

/// What `spectr` calls the devices of a driver: CUDA0, CUDA1, …
std::string name_of_device(int ordinal);

/// The devices of a driver, by ordinal. Error: the driver's.
Result<std::vector<DeviceInfo>> devices(const Driver& driver);

using KernelImages = std::string (*)(std::string_view name);

/// How plans of products are chosen.
struct TrialSettings {
  std::size_t least_bytes = std::size_t{16} << 20;  ///< of a pass's products, for a trial to be worth it
  std::string kept = {};  ///< a file of what was chosen; none: it is forgotten. Nobody hears where that fails
};

/// A GPU by CUDA. Passes are graphs, and kernels begin before their predecessors have ended.
class CudaDevice final : public Device {
 public:
  /// `images`: kernel_image(). They are loaded when kernels of them are asked for, but for the one that every
  /// pass needs. The driver must outlive it. Error: a GPU or a driver that lacks what kernels need, with what
  /// it has; or the driver's.
  static Result<std::shared_ptr<CudaDevice>> open(const Driver& driver, int ordinal, KernelImages images,
                                                  const TrialSettings& trial = {});
  ~CudaDevice() override;

  /// Of products, as far as they were chosen. Not while others use the device.
  const ProductPlans& plans() const { return *plans_; }

  DeviceInfo info() const override;
  const Caps& caps() const override;
  std::size_t most_parts() const override { return 4; }
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

  CudaDevice(const Driver& driver, int ordinal, KernelImages images, const TrialSettings& trial)
      : driver_(driver), name_(name_of_device(ordinal)), images_(images), trial_(trial) {}
  Result<void> begin(int ordinal);
  std::unique_lock<std::mutex> use() const;
  Result<void> check(CUresult result) const;
  CUdeviceptr address_of(const Slice& slice) const;
  CUresult load(const std::string& image);
  Result<CUfunction> function(const Launch& launch);
  Result<void> prepare(std::span<const call::AnyCall> calls);
  Result<void> launch(const Launch& launch);
  Result<void> launch_all();
  Result<CUgraphExec> capture();
  Result<double> seconds(std::span<const call::AnyCall> calls);
  Result<void> try_plans(std::span<const call::AnyCall> calls);

  const Driver& driver_;
  std::string name_, description_;
  KernelImages images_;
  TrialSettings trial_;
  CUdevice device_ = 0;
  bool is_retained_ = false;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent begun_ = nullptr, ended_ = nullptr;  // of trials
  std::optional<ProductPlans> plans_;
  mutable std::mutex mutex_;                 // of what follows, and of the order of work
  std::map<std::string, CUmodule> modules_;  // by image
  std::map<std::string, CUfunction> functions_;
  std::vector<Launch> launches_;
};

}  // namespace spectr::cuda
