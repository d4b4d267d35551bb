#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
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

/// Ends the program if the driver is misused.
inline void need(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "the CUDA driver was used wrongly: %s\n", what);
  std::abort();
}

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

  bool contains(const void* at) const {
    return at >= memory.get() && at < memory.get() + bytes;  // NOLINT
  }
};

/// An upload from pinned memory, which the driver may read until the next call.
struct MockUpload {
  std::byte* to;
  const void* from;
  std::size_t bytes;
};

struct MockState {
  template <class Handle>
  Handle new_handle() {
    void* const handle = std::malloc(1);  // NOLINT: a unique address
    handles.insert(handle);
    return static_cast<Handle>(handle);
  }
  template <class Handle>
  void check_handle(Handle handle) const {
    need(handles.contains(handle), "a stream, module or graph that there is not");
  }
  template <class Handle>
  void drop_handle(Handle handle) {
    need(handles.erase(handle) == 1, "a stream, module or graph is destroyed that there is not");
    std::free(handle);  // NOLINT
  }
  /// Returns the memory at an address in an allocation with at least `size` bytes after it.
  std::byte* place(cuda::CUdeviceptr at, std::size_t size) const {
    auto block = blocks.upper_bound(at);
    need(block != blocks.begin(), "a place outside all memory");
    --block;
    need(at + size <= block->first + block->second.bytes, "a place beyond the memory that was given out");
    return block->second.memory.get() + (at - block->first);
  }
  bool is_pinned(const void* from) const {
    const auto block = pinned.upper_bound(from);
    return block != pinned.begin() && std::prev(block)->second.contains(from);
  }
  /// Executes the uploads from pinned memory.
  void finish_uploads() {
    for (const auto& [to, from, bytes] : uploads) std::memcpy(to, from, bytes);
    uploads.clear();
  }
  /// Exchanges the contents of memory with those at the beginning of the graph, where they differ.
  void exchange_with_beginning() {
    for (auto& [at, contents] : beginning) {
      std::byte* const here = place(at, contents.size());
      if (std::memcmp(here, contents.data(), contents.size()) != 0)
        std::swap_ranges(contents.begin(), contents.end(), here);
    }
  }

  MockCuda::Settings settings;
  std::map<std::string, MockKernel> kernels = mock_kernels();
  std::deque<MockKernel> functions;  // of modules, each with its own limit of shared memory
  std::map<cuda::CUdeviceptr, MockBlock> blocks;
  std::map<cuda::CUdeviceptr, std::vector<std::byte>> beginning;  // see Settings::early
  std::map<const void*, MockBlock> pinned;
  std::vector<MockUpload> uploads;  // from pinned memory, not executed yet
  std::size_t taken = 0;
  std::set<void*> handles;  // streams, modules, graphs
  std::map<void*, double> events;
  double milliseconds = 0;
  std::map<void*, std::string> images;  // by module
  std::map<void*, std::vector<MockWork>> graphs;
  std::vector<MockWork>* captures = nullptr;
  std::vector<MockWork> captured;
  std::map<std::string, cuda::CUresult> failing;  // by function: the result of its next call
  int contexts = 0, contexts_made = 0, pinned_made = 0, launched = 0, downloads = 0, lost_after = -1;
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
