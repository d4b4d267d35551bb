#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace spectr::test {

/// A kernel as it was compiled.
struct MockKernel {
  std::string image, name;
  std::size_t parameter_bytes;
  int threads;
  void (*run)(const void* parameters);
  int shared_bytes = 48 << 10;
};

// What SPECTR_KERNEL may be (kernel_list.cuh): a function that runs the kernel; and, into a map `all`, the
// kernel as one of the image `of`.
#define SPECTR_RUN_KERNEL(name, Parameters, threads, ...)              \
  void run_##name(const void* parameters) {                            \
    const Parameters& p = *static_cast<const Parameters*>(parameters); \
    __VA_ARGS__;                                                       \
  }
#define SPECTR_LIST_KERNEL(name, Parameters, thread_count, ...) \
  all["spectr_" #name] = {of, #name, sizeof(Parameters), thread_count, run_##name};

/// All kernels by their names, to run on fibers.
std::map<std::string, MockKernel> mock_kernels();

/// Adds those of products: on GPUs from Hopper on, and before.
void add_mock_products(std::map<std::string, MockKernel>& all);
void add_mock_products_by_threads(std::map<std::string, MockKernel>& all);

}  // namespace spectr::test
