#include "spectr/engine/devices.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "spectr/backend/cuda/cuda_device.h"
#include "spectr/backend/cuda/kernel_image.h"
#include "spectr/backend/device/device_backend.h"

namespace spectr {
namespace {

/// The driver, where this build has kernels for it.
Result<const cuda::Driver*> driver() {
  if (cuda::kernel_image() == nullptr) return error("this build has no kernels for GPUs (SPECTR_CUDA)");
  return cuda::load_driver();
}

Result<std::shared_ptr<Device>> open(std::string_view name) {
  constexpr std::string_view cuda = "CUDA";
  if (!name.starts_with(cuda)) return error("there is no such device; see --list-devices");
  SPECTR_TRY(const cuda::Driver* const of, driver());
  SPECTR_TRY(const std::vector<DeviceInfo> all, cuda::devices(*of));
  const auto found = std::ranges::find(all, name, &DeviceInfo::name);
  if (found == all.end()) return error("there is no such device; see --list-devices");
  return cuda::CudaDevice::open(*of, static_cast<int>(found - all.begin()), cuda::kernel_image());
}

}  // namespace

Result<std::vector<ListedDevice>> list_devices() {
  SPECTR_TRY(const cuda::Driver* const of, driver());
  SPECTR_TRY(std::vector<DeviceInfo> all, cuda::devices(*of));
  std::vector<ListedDevice> listed;
  for (DeviceInfo& one : all)
    listed.push_back({std::move(one.name), std::move(one.description), one.bytes, one.free_bytes});
  return listed;
}

Result<std::shared_ptr<const Backend>> device_backend(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Device>, std::less<>> used;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Device> device;
  if (const auto at = used.find(name); at != used.end()) device = at->second.lock();
  if (device == nullptr) {
    Result<std::shared_ptr<Device>> opened = open(name);
    if (!opened) return error("--device {}: {}", name, opened.error().message);
    device = std::move(*opened);
    used.insert_or_assign(std::string(name), device);
  }
  return std::make_shared<DeviceBackend>(std::move(device));
}

}  // namespace spectr
