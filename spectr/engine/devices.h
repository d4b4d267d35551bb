#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// A device that models can be computed on beside the processor.
struct ListedDevice {
  std::string name;         ///< "CUDA0", "Vulkan0"
  std::string description;  ///< "NVIDIA H100 80GB HBM3"
  std::size_t bytes, free_bytes;
  bool is_processor;  ///< the processor by another name: to be used only by that
};

/// The devices of this machine. Error: why there are none.
Result<std::vector<ListedDevice>> list_devices();

/// Devices that are opened from now on keep in this folder, a file each, which kernels they have found to be
/// the fastest, and find it there. Before that, and with no folder, they try anew each time.
void keep_device_trials_in(const std::filesystem::path& folder);

/// Models on the device of that name; models that have the same share it. The pool, where there is one, packs
/// their weights, and must outlive them. Error: there is no such device, or it cannot be used; a line that
/// names --device.
Result<std::shared_ptr<const Backend>> device_backend(std::string_view name, ThreadPool* pool = nullptr);

/// "CUDA0 (NVIDIA H100 80GB HBM3)". Error: of list_devices(), or there is no such device.
Result<std::string> description_of(std::string_view name);
/// Bytes that a copy within the device's memory reads and writes a second, the fastest of some: a bound of
/// what passes can do. Error: as device_backend(), no memory for it, or the device is lost.
Result<double> copy_speed(std::string_view name);

}  // namespace spectr
