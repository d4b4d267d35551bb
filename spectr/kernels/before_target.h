// What the source file of an instruction set includes before it chooses its compiler target, and all that it
// includes but the *-inl.h files. Nothing in these headers may be compiled for that target: where the
// compiler does not put a function in place, the linker takes one copy for the whole program, and it could be
// this one, for every machine.
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

#include "spectr/base/rounding.h"
#include "spectr/kernels/activations.h"
#include "spectr/kernels/code_layout.h"
#include "spectr/kernels/float_lines.h"
#include "spectr/kernels/half.h"
#include "spectr/kernels/kernel_set.h"
#include "spectr/kernels/panels.h"
#include "spectr/kernels/tensor_type.h"
