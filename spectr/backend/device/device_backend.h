#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "spectr/backend/device/device.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// Returns what DeviceOps has on a device with all kernels.
Caps device_caps(std::string_view backend);

/// A backend that runs models on a device.
class DeviceBackend final : public Backend {
 public:
  /// `pool`, if given, is used for packing weights and must outlive the models.
  explicit DeviceBackend(std::shared_ptr<Device> device, ThreadPool* pool = nullptr)
      : device_(std::move(device)), pool_(pool) {}

  const Caps& caps() const override { return device_->caps(); }
  std::string place() const override;
  /// Error: the device has too little free memory for the weights.
  Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const override;

 private:
  std::shared_ptr<Device> device_;
  ThreadPool* pool_;
};

}  // namespace spectr
