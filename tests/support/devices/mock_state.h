#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/devices/fibers.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/devices/mock_kernels.h"

// The state of a MockCuda between calls of its driver.
namespace spectr::test {

/// A launch, which graphs keep.
struct MockWork {
  std::string name;
  MockKernel* kernel;
  cuda::fibers::Launch launch;
  std::vector<std::byte> parameters;
};

/// An allocation.
struct MockBlock {
  std::unique_ptr<std::byte[], void (*)(void*)> memory;
  std::size_t bytes;
};

struct MockState {
  MockCuda::Settings settings;
  std::map<std::string, MockKernel> kernels = mock_kernels();
  std::deque<MockKernel> functions;  // of modules, each with its own limit of shared memory
  std::map<cuda::CUdeviceptr, MockBlock> blocks;
  std::size_t taken = 0;
  std::set<void*> handles;  // streams, modules, graphs
  std::map<void*, double> events;
  double milliseconds = 0;
  std::map<void*, std::string> images;  // by module
  std::map<void*, std::vector<MockWork>> graphs;
  std::vector<MockWork>* captures = nullptr;
  std::vector<MockWork> captured;
  std::map<std::string, cuda::CUresult> failing;  // by function: the result of its next call
  int contexts = 0, contexts_made = 0, launched = 0, downloads = 0, lost_after = -1;
  bool is_current = false, is_lost = false;
};

inline constexpr cuda::CUresult no_device = 100, lost = 719;

/// Returns the driver's description of a result.
inline const char* mock_text_of(cuda::CUresult result) {
  const std::map<cuda::CUresult, const char*> texts = {
      {cuda::out_of_memory, "out of memory"},
      {no_device, "no CUDA-capable device is detected"},
      {101, "invalid device ordinal"},
      {222, "the provided PTX was compiled with an unsupported toolchain."},
      {701, "too many resources requested for launch"},
      {lost, "unspecified launch failure"}};
  return texts.at(result);
}

}  // namespace spectr::test
