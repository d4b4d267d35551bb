#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "spectr/backend/cuda/driver.h"
#include "spectr/backend/cuda/kernel_image.h"

namespace spectr::test {

/// A CUDA driver without a GPU: memory is this process's, and kernels run on fibers (fibers.h). It ends the
/// program where it is used wrongly: places outside the memory that was given out, kernels that there are
/// not, launches that differ from what kernels were compiled for, what was destroyed or never was. One at a
/// time, and calls from one thread at a time.
class MockCuda {
 public:
  struct Settings {
    int devices = 1;
    std::size_t bytes = std::size_t{1} << 32;
    int major = 9, minor = 0;  ///< of the capability
    int version = 13000;
    int processors = 4;
    int shared_bytes = 228 << 10;  ///< of a processor
    bool lazy = false;             ///< see fibers.h
    /// What its events say that a kernel of so many groups has taken.
    std::function<double(const std::string& kernel, int groups)> milliseconds = [](const std::string&, int) {
      return 1.0;
    };
  };
  MockCuda() : MockCuda(Settings()) {}
  explicit MockCuda(const Settings& settings);
  /// Ends the program where something has not been given back.
  ~MockCuda();

  const cuda::Driver& driver() const;
  /// As kernel_image(), but of kernels' names alone.
  static std::string image(std::string_view name);
  /// Kernels that were launched, those of graphs each time.
  int launched() const;
  /// From the n-th kernel from now on the device is lost.
  void lose_at(int kernels);
};

}  // namespace spectr::test
