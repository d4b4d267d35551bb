#pragma once

#include "spectr/kernels/kernel_level.h"

namespace spectr {

// Each in a source file of its own, compiled for its instruction set.
const KernelSet& portable_kernels();
#if defined(__x86_64__)
const KernelSet& avx2_kernels();
const KernelSet& avx2_vnni_kernels();
const KernelSet& avx512_kernels();
const KernelSet& avx512_vnni_kernels();
const KernelSet& amx_kernels();
#elif defined(__aarch64__)
const KernelSet& neon_kernels();
const KernelSet& neon_dot_kernels();
#endif

}  // namespace spectr
