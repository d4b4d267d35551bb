#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "spectr/backend/cuda/driver.h"
#include "spectr/backend/cuda/kernel_image.h"

namespace spectr::test {

/// A CUDA driver without a GPU: it uses this process's memory, and kernels run on fibers (fibers.h). It ends
/// the program on misuse: addresses outside of allocations, unknown kernels, launches that differ from the
/// configuration for which a kernel was compiled, invalid or destroyed handles. Only one instance may exist
/// at a time, and only one thread may use it at a time.
class MockCuda {
 public:
  struct Settings {
    int devices = 1;
    std::size_t bytes = std::size_t{1} << 32;
    int major = 9, minor = 0;  ///< compute capability
    int version = 13000;
    int processors = 4;
    int shared_bytes = 228 << 10;  ///< per processor
    bool lazy = false;             ///< see fibers.h
    /// True: before predecessors(), the kernels of a graph see the memory of its beginning.
    bool early = false;
    int wrong_download = 0;  ///< if > 0, the number of the download that has a wrong bit
    /// Returns the time that events report for a kernel of `groups` groups.
    std::function<double(const std::string& kernel, int groups)> milliseconds = [](const std::string&, int) {
      return 1.0;
    };
  };
  MockCuda() : MockCuda(Settings()) {}
  explicit MockCuda(const Settings& settings);
  /// Ends the program if anything has not been released.
  ~MockCuda();

  const cuda::Driver& driver() const;
  /// Like kernel_image(), but the images contain only kernel names.
  static std::string image(std::string_view name);
  /// Returns the number of launched kernels, including every replay of a graph.
  int launched() const;
  /// Loses the device at the n-th kernel from now on.
  void lose_at(int kernels);
  /// Makes the next call of a driver function fail: cuModuleLoadData, cuLaunchKernelEx,
  /// cuGraphInstantiateWithFlags, cuMemAllocHost_v2 or cuMemcpyDtoHAsync_v2.
  void fail_next(const std::string& function, cuda::CUresult result);
  /// Returns how often a context was created on a device.
  int contexts_made() const;
  /// Returns how often pinned memory was allocated.
  int pinned_made() const;
};

}  // namespace spectr::test
