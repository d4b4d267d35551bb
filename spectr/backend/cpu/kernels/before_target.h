// Headers that the source file of an instruction set must include before it selects its compiler target.
// Afterwards, it includes only *-inl.h files and the formats (quant/formats.h), whose functions for kernels
// are always inlined. The headers below must not be compiled for that target: if the compiler does not inline
// a function, the linker keeps one copy for the whole program, which could then be this one, on every
// machine.
#pragma once

#include <hwy/base.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "spectr/backend/cpu/kernels/activations.h"
#include "spectr/backend/cpu/kernels/float_lines.h"
#include "spectr/backend/cpu/kernels/kernel_set.h"
#include "spectr/backend/cpu/kernels/panels.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "spectr/gguf/tensor_type.h"
