#include "tests/support/devices/fibers.h"
// fibers.h must come first: the kernels included below run on fibers.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"
#include "tests/support/devices/mock_kernels.h"

namespace spectr::test {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace): the kernels' namespace

#define SPECTR_KERNEL SPECTR_RUN_KERNEL
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#undef SPECTR_KERNEL

}  // namespace

std::map<std::string, MockKernel> mock_kernels() {
  std::map<std::string, MockKernel> all;
  const std::string of = "kernels";
#define SPECTR_KERNEL SPECTR_LIST_KERNEL
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#undef SPECTR_KERNEL
  add_mock_products(all);
  add_mock_products_by_threads(all);
  return all;
}

}  // namespace spectr::test
