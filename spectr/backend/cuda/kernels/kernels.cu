// Generates the GPU kernels, compiled by clang or nvcc: the products of one format, SPECTR_FORMAT, with the
// shapes of SPECTR_SHAPES and the name prefix SPECTR_PRODUCT, or else all other kernels.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"
#include "spectr/backend/cuda/kernels/shape_list.h"

namespace spectr::cuda {

// Plans of products count on two thread blocks of up to 256 threads per SM, which limits their registers.
#define SPECTR_KERNEL(name, Parameters, threads, ...)                               \
  extern "C" __global__ void __launch_bounds__((threads), (threads) <= 256 ? 2 : 1) \
      spectr_##name(const Parameters p) {                                           \
    __VA_ARGS__;                                                                    \
  }
#if defined(SPECTR_FORMAT)
SPECTR_SHAPES(SPECTR_PRODUCT_KERNEL, SPECTR_PRODUCT, SPECTR_FORMAT)
SPECTR_SHAPES_OF_EXPERTS(SPECTR_EXPERTS_KERNEL, SPECTR_PRODUCT, SPECTR_FORMAT)
#else
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#endif
#undef SPECTR_KERNEL

}  // namespace spectr::cuda
