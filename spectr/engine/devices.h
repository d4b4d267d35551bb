#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// A device other than the processor on which models can be computed.
struct ListedDevice {
  std::string name;         ///< "CUDA0", "Vulkan0"
  std::string description;  ///< "NVIDIA H100 80GB HBM3"
  std::size_t bytes;
  std::optional<std::size_t> free_bytes;  ///< unknown if the driver answers only within a context
  bool is_processor;                      ///< the CPU under another name, used only on request
};

/// Returns the devices of this machine. Fails with the reason why there are none.
Result<std::vector<ListedDevice>> list_devices();

/// Sets the folder in which devices opened from now on keep their autotuning results, one file each. Before
/// the first call, or with an empty folder, devices tune anew each time.
void keep_device_trials_in(const std::filesystem::path& folder);

/// Returns a backend on the device of that name; all backends of a device share it. The pool, if set, packs
/// weights and must outlive the models. Fails, with a message that names --device, if there is no such device
/// or it cannot be used.
Result<std::shared_ptr<const Backend>> device_backend(std::string_view name, ThreadPool* pool = nullptr);

/// Returns "CUDA0 (NVIDIA H100 80GB HBM3)". Fails as list_devices(), or if there is no such device.
Result<std::string> description_of(std::string_view name);
/// Returns the bytes per second that copies within the device's memory read and write, the best of several: a
/// bound of passes. Fails as device_backend(), without memory for it, or if the device is lost.
Result<double> copy_speed(std::string_view name);

}  // namespace spectr
