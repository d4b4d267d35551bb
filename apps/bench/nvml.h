#pragma once

#include <memory>
#include <optional>
#include <vector>

namespace spectr::bench {

/// Board power of NVIDIA GPUs by the library of their driver, which is loaded when the program runs: nothing
/// is linked, and where there is no driver there is simply no reading.
class Nvml {
 public:
  Nvml();

  bool available() const { return !devices_.empty(); }
  /// Of all GPUs together; none where a reading failed.
  std::optional<double> watts() const;

 private:
  using Device = void*;
  std::shared_ptr<void> library_;
  int (*power_usage_)(Device, unsigned* milliwatts) = nullptr;
  std::vector<Device> devices_;
};

}  // namespace spectr::bench
