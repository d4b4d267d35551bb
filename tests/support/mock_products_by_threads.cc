#include "tests/support/fibers.h"
// Fibers first: they are what the kernels below run on.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"
#include "spectr/backend/cuda/kernels/shape_list.h"
#include "tests/support/mock_kernels.h"

namespace spectr::test {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace): kernels are named as there

#define SPECTR_KERNEL(name, Parameters, threads, ...)                  \
  void run_##name(const void* parameters) {                            \
    const Parameters& p = *static_cast<const Parameters*>(parameters); \
    __VA_ARGS__;                                                       \
  }
#define SPECTR_PRODUCTS(image, Format, shapes)                   \
  SPECTR_SHAPES_BY_THREADS(SPECTR_PRODUCT_KERNEL, image, Format) \
  SPECTR_SHAPES_OF_EXPERTS(SPECTR_EXPERTS_KERNEL, image, Format)
#include "spectr/backend/cuda/kernels/product_list.cuh"
#undef SPECTR_PRODUCTS
#undef SPECTR_KERNEL

}  // namespace

void add_mock_products_by_threads(std::map<std::string, MockKernel>& all) {
#define SPECTR_KERNEL(name, Parameters, thread_count, ...) \
  all["spectr_" #name] = {of, #name, sizeof(Parameters), thread_count, run_##name};
#define SPECTR_PRODUCTS(image, Format, shapes)                     \
  {                                                                \
    const std::string of = #image "_ampere";                       \
    SPECTR_SHAPES_BY_THREADS(SPECTR_PRODUCT_KERNEL, image, Format) \
    SPECTR_SHAPES_OF_EXPERTS(SPECTR_EXPERTS_KERNEL, image, Format) \
  }
#include "spectr/backend/cuda/kernels/product_list.cuh"
#undef SPECTR_PRODUCTS
#undef SPECTR_KERNEL
}

}  // namespace spectr::test
