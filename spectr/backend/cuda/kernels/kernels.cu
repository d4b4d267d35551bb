// The kernels as a GPU has them, by clang or nvcc.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"

namespace spectr::cuda {

#define SPECTR_KERNEL(name, Parameters, threads, ...)                                       \
  extern "C" __global__ void __launch_bounds__(threads) spectr_##name(const Parameters p) { \
    __VA_ARGS__;                                                                            \
  }
#include "spectr/backend/cuda/kernels/kernel_list.cuh"
#undef SPECTR_KERNEL

}  // namespace spectr::cuda
