#pragma once

#include <memory>
#include <optional>
#include <vector>

namespace spectr::bench {

/// Reads the board power of NVIDIA GPUs with NVML. The library is loaded at run time, so the program does not
/// link to it; without a driver, there are no readings.
class Nvml {
 public:
  Nvml();

  bool available() const { return !devices_.empty(); }
  /// Returns the sum over all GPUs, or nothing if a reading failed.
  std::optional<double> watts() const;

 private:
  using Device = void*;
  std::shared_ptr<void> library_;
  int (*power_usage_)(Device, unsigned* milliwatts) = nullptr;
  std::vector<Device> devices_;
};

}  // namespace spectr::bench
