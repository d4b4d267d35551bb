// The kernels as a GPU has them, by clang or nvcc: products of one format, where one is given, or all others.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"

namespace spectr::cuda {

#define SPECTR_KERNEL(name, Parameters, threads, ...)                                       \
  extern "C" __global__ void __launch_bounds__(threads) spectr_##name(const Parameters p) { \
    __VA_ARGS__;                                                                            \
  }
#if defined(SPECTR_FORMAT)
#include "spectr/backend/cuda/kernels/product_list.cuh"
#else
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#endif
#undef SPECTR_KERNEL

}  // namespace spectr::cuda
