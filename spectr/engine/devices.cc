#include "spectr/engine/devices.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>

#include "spectr/backend/cuda/cuda_device.h"
#include "spectr/backend/cuda/kernel_image.h"
#include "spectr/backend/device/copy_speed.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/vulkan/vulkan_devices.h"
#include "spectr/base/version.h"

namespace spectr {
namespace {

/// Returns the driver, if this build has kernels for it.
Result<const cuda::Driver*> driver() {
  if (!cuda::has_kernel_images())
    return error(ErrorCode::unsupported, "this build has no kernels for GPUs (SPECTR_CUDA)");
  return cuda::load_driver();
}

Result<std::vector<cuda::ListedGpu>> cuda_devices() {
  SPECTR_TRY(const cuda::Driver* const of, driver());
  return cuda::devices(*of);
}

/// Returns a device's file in a folder. Other builds have other kernels, and their own files.
std::string file_of(const cuda::ListedGpu& device, const std::filesystem::path& folder) {
  if (folder.empty()) return "";
  std::string name = device.name + "-" + device.description;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return folder / fmt::format("{}-{:016x}.plans", name, build_identity());
}

Result<std::shared_ptr<Device>> open(std::string_view name, const std::filesystem::path& trials) {
  if (name.starts_with("Vulkan")) return vulkan::open_device(name);
  if (!name.starts_with("CUDA")) return error("there is no such device; see --list-devices");
  SPECTR_TRY(const cuda::Driver* const of, driver());
  SPECTR_TRY(const std::vector<cuda::ListedGpu> all, cuda::devices(*of));
  const auto found = std::ranges::find(all, name, &cuda::ListedGpu::name);
  if (found == all.end()) return error("there is no such device; see --list-devices");
  return cuda::CudaDevice::open(*of, static_cast<int>(found - all.begin()), cuda::kernel_image,
                                {.kept = file_of(*found, trials)});
}

}  // namespace

Result<std::vector<ListedDevice>> list_devices() {
  std::vector<ListedDevice> listed;
  const auto by_cuda = cuda_devices();
  const auto by_vulkan = vulkan::devices();
  if (by_cuda) {
    for (const cuda::ListedGpu& one : *by_cuda)
      listed.push_back({one.name, one.description, one.bytes, std::nullopt, false});
  }
  if (by_vulkan) {
    for (const DeviceInfo& one : *by_vulkan)
      listed.push_back({one.name, one.description, one.bytes, one.free_bytes, one.is_processor});
  }
  if (!by_cuda && !by_vulkan)
    return error(by_cuda.error().code, "{}; {}", by_cuda.error().message, by_vulkan.error().message);
  return listed;
}

namespace {

/// Devices that this process uses.
struct Used {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Device>, std::less<>> devices;
  std::filesystem::path trials;
};
Used& used() {
  static Used used;
  return used;
}

/// Returns the device of that name, which all users share.
Result<std::shared_ptr<Device>> shared_device(std::string_view name) {
  auto& [mutex, devices, trials] = used();
  const std::lock_guard lock(mutex);
  std::shared_ptr<Device> device;
  if (const auto at = devices.find(name); at != devices.end()) device = at->second.lock();
  if (device == nullptr) {
    Result<std::shared_ptr<Device>> opened = open(name, trials);
    if (!opened) return error(opened.error().code, "--device {}: {}", name, opened.error().message);
    device = std::move(*opened);
    devices.insert_or_assign(std::string(name), device);
  }
  return device;
}

}  // namespace

void keep_device_trials_in(const std::filesystem::path& folder) {
  const std::lock_guard lock(used().mutex);
  used().trials = folder;
}

Result<std::shared_ptr<const Backend>> device_backend(std::string_view name, ThreadPool* pool) {
  SPECTR_TRY(std::shared_ptr<Device> device, shared_device(name));
  return std::make_shared<DeviceBackend>(std::move(device), pool);
}

Result<std::string> description_of(std::string_view name) {
  SPECTR_TRY(const std::vector<ListedDevice> all, list_devices());
  const auto found = std::ranges::find(all, name, &ListedDevice::name);
  if (found == all.end()) return error("--device {}: there is no such device; see --list-devices", name);
  return fmt::format("{} ({})", name, found->description);
}

Result<double> copy_speed(std::string_view name) {
  SPECTR_TRY(const std::shared_ptr<Device> device, shared_device(name));
  return spectr::copy_speed(*device);
}

}  // namespace spectr
