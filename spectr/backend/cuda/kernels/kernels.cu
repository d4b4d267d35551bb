// The kernels as a GPU has them, by clang or nvcc: those of products of one format, SPECTR_FORMAT with the name
// SPECTR_FORMAT_NAME, or all others.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"
#include "spectr/backend/cuda/kernels/product_list.h"

namespace spectr::cuda {

#define SPECTR_KERNEL(name, Parameters, threads, ...)                                       \
  extern "C" __global__ void __launch_bounds__(threads) spectr_##name(const Parameters p) { \
    __VA_ARGS__;                                                                            \
  }
#if defined(SPECTR_FORMAT)
#define SPECTR_PRODUCTS_NAMED(name, Format) SPECTR_PRODUCTS(name, Format)
SPECTR_PRODUCTS_NAMED(SPECTR_FORMAT_NAME, SPECTR_FORMAT)
#else
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#endif
#undef SPECTR_KERNEL

}  // namespace spectr::cuda
