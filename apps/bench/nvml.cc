#include "apps/bench/nvml.h"

#include <dlfcn.h>

namespace spectr::bench {
namespace {

/// Looks up a function of the library; null if there is none of that name.
template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Nvml::Nvml() {
  void* const opened = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return;
  library_ = {opened, [](void* library) { dlclose(library); }};
  const auto start = function<int (*)()>(opened, "nvmlInit_v2");
  const auto count = function<int (*)(unsigned*)>(opened, "nvmlDeviceGetCount_v2");
  const auto handle = function<int (*)(unsigned, Device*)>(opened, "nvmlDeviceGetHandleByIndex_v2");
  power_usage_ = function<int (*)(Device, unsigned*)>(opened, "nvmlDeviceGetPowerUsage");
  unsigned devices = 0;
  if (!start || !count || !handle || !power_usage_ || start() != 0 || count(&devices) != 0) return;
  for (unsigned i = 0; i < devices; ++i) {
    Device device = nullptr;
    unsigned milliwatts = 0;
    if (handle(i, &device) == 0 && power_usage_(device, &milliwatts) == 0) devices_.push_back(device);
  }
}

std::optional<double> Nvml::watts() const {
  double sum = 0.0;
  for (Device device : devices_) {
    unsigned milliwatts = 0;
    if (power_usage_(device, &milliwatts) != 0) return std::nullopt;
    sum += static_cast<double>(milliwatts) * 1e-3;
  }
  return sum;
}

}  // namespace spectr::bench
