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

/// Returns the name of a device: CUDA0, CUDA1, …
std::string name_of_device(int ordinal);

/// A GPU of the driver.
struct ListedGpu {
  std::string name;         ///< "CUDA0"
  std::string description;  ///< "NVIDIA H100 80GB HBM3"
  std::size_t bytes;        ///< total memory
};
/// Returns the GPUs of a driver, by ordinal, without creating contexts on them. Errors: those of the driver.
Result<std::vector<ListedGpu>> devices(const Driver& driver);

using KernelImages = std::string (*)(std::string_view name);

/// Settings of the trials that choose product plans.
struct TrialSettings {
  std::size_t min_bytes = std::size_t{16} << 20;  ///< minimum bytes of a pass's products for a trial
  std::string kept = {};  ///< file of chosen plans; empty: not saved. Errors of writing are ignored
};

/// An NVIDIA GPU. Passes are CUDA graphs that use programmatic dependent launches.
class CudaDevice final : public Device {
 public:
  /// Opens a GPU. `images` is kernel_image(); images are loaded on first use, except the one that every pass
  /// needs. The driver must outlive the device. Errors: the GPU or the driver is too old (the message names
  /// its version), or an error of the driver.
  static Result<std::shared_ptr<CudaDevice>> open(const Driver& driver, int ordinal, KernelImages images,
                                                  const TrialSettings& trial = {});
  ~CudaDevice() override;

  /// Returns the product plans chosen so far. Not thread-safe.
  const ProductPlans& plans() const { return *plans_; }
  /// Sets the plan of products of these sizes, which applies to what is recorded or run later. Requires: the
  /// plan is one of product_plans(sizes, plans().device()).
  void choose(const ProductSizes& sizes, const ProductPlan& plan);
  /// Returns the CUDA version that the driver supports, encoded as 12010 for 12.1.
  int driver_version() const { return driver_version_; }

  DeviceInfo info() const override;
  const Caps& caps() const override;
  std::size_t max_parts() const override { return 4; }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override;
  /// Returns pinned memory, or ordinary memory if the driver has no more of it.
  std::unique_ptr<StagingMemory> allocate_staging(std::size_t bytes) override;
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
  class PinnedMemory;
  class Graph;

  CudaDevice(const Driver& driver, int ordinal, KernelImages images, const TrialSettings& trial)
      : driver_(driver), name_(name_of_device(ordinal)), images_(images), trial_(trial) {}
  Result<void> begin(int ordinal);
  std::unique_lock<std::mutex> use() const;
  /// Returns an error that names the failed `action` on `object`, unless the result is a success.
  Result<void> check(CUresult result, std::string_view action, std::string_view object = "") const;
  CUdeviceptr address_of(const Slice& slice) const;
  std::string code_of(const std::string& image) const;
  Result<void> load(const std::string& image, const std::string& code);
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
  CUevent begun_ = nullptr, ended_ = nullptr;  // for timing trials
  int driver_version_ = 0;
  bool launches_early_ = false;  // true if kernels may start before their predecessors have ended
  std::optional<ProductPlans> plans_;
  mutable std::mutex mutex_;                 // guards the members below, and orders work
  std::map<std::string, CUmodule> modules_;  // by image
  struct Function {
    CUfunction handle = nullptr;
    bool has_large_memory = false;  // true if it may have more shared memory than by default
  };
  std::map<std::string, Function> functions_;
  std::vector<Launch> launches_;
};

}  // namespace spectr::cuda
