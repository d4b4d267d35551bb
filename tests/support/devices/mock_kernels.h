#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace spectr::test {

/// Shared memory of a kernel, unless it is permitted more.
inline constexpr int default_shared_bytes = 48 << 10;

/// A compiled kernel.
struct MockKernel {
  std::string image, name;
  std::size_t parameter_bytes;
  int threads;
  void (*run)(const void* parameters);
  int shared_bytes = default_shared_bytes;
};

// Two definitions for SPECTR_KERNEL (kernel_list.cuh): one defines a function that runs the kernel, the other
// adds the kernel to a map `all` as a kernel of the image `of`.
#define SPECTR_RUN_KERNEL(name, Parameters, threads, ...)              \
  void run_##name(const void* parameters) {                            \
    const Parameters& p = *static_cast<const Parameters*>(parameters); \
    __VA_ARGS__;                                                       \
  }
#define SPECTR_LIST_KERNEL(name, Parameters, thread_count, ...) \
  all["spectr_" #name] = {of, #name, sizeof(Parameters), thread_count, run_##name};

/// Returns all kernels by name, to run on fibers.
std::map<std::string, MockKernel> mock_kernels();
/// Returns all images by name, without code.
std::map<std::string, std::string> mock_images();
/// Returns the declaration of a kernel in PTX.
std::string entry_of(const std::string& name);

/// Adds the product kernels: for GPUs from Hopper on, and for earlier ones.
void add_mock_products(std::map<std::string, MockKernel>& all);
void add_mock_products_by_threads(std::map<std::string, MockKernel>& all);

}  // namespace spectr::test
