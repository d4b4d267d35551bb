#include "tests/support/fibers.h"
// Fibers first: they are what the kernels below run on.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"
#include "tests/support/mock_kernels.h"

namespace spectr::test {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace): kernels are named as there

#define SPECTR_KERNEL(name, Parameters, threads, ...)                  \
  void run_##name(const void* parameters) {                            \
    const Parameters& p = *static_cast<const Parameters*>(parameters); \
    __VA_ARGS__;                                                       \
  }
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#undef SPECTR_KERNEL

}  // namespace

std::map<std::string, MockKernel> mock_kernels() {
  std::map<std::string, MockKernel> all;
#define SPECTR_KERNEL(name, Parameters, thread_count, ...) \
  all["spectr_" #name] = {"kernels", #name, sizeof(Parameters), thread_count, run_##name};
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#undef SPECTR_KERNEL
  add_mock_products(all);
  add_mock_products_by_threads(all);
  return all;
}

}  // namespace spectr::test
