#pragma once

#include <memory>
#include <string>

#include "spectr/backend/device/device.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// What DeviceOps can compute on a device that has a kernel for every call.
std::vector<Feature> device_features();

/// Models on a device.
class DeviceBackend final : public Backend {
 public:
  /// The pool, where there is one, packs weights, and must outlive models.
  explicit DeviceBackend(std::shared_ptr<Device> device, ThreadPool* pool = nullptr)
      : device_(std::move(device)), pool_(pool) {}

  const Caps& caps() const override { return device_->caps(); }
  std::string place() const override;
  /// Error: less memory than the weights take.
  Result<std::unique_ptr<Ops>> make(const ModelSpec& spec, const KvTypes& kv) const override;

 private:
  std::shared_ptr<Device> device_;
  ThreadPool* pool_;
};

}  // namespace spectr
