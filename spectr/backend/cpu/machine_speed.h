#pragma once

#include <string_view>

#include "spectr/base/thread_pool.h"
#include "spectr/nn/pass_profile.h"

namespace spectr {

// What the machine can do at best with the threads of a pool: the lines of the roofline below which every
// pass of a model stays (Williams, Waterman, Patterson 2009). Each takes a fraction of a second; the best of
// several repetitions counts, because other programs only ever take away.

/// Bytes per second at which memory can be read. Reads a block of 256 MiB, more than caches hold, in four
/// places at once, which is faster than one after the other.
double memory_bytes_per_second(ThreadPool& pool);

/// Products of integers per second that matrix multiplication reaches on weights that lie in the caches: of
/// Q8_0 or Q4_0, as some machines multiply codes of 4 bits faster, and for the number of rows at which
/// weights cost least.
double integer_macs_per_second(ThreadPool& pool);

/// The same for products of floats: of F32 weights.
double float_macs_per_second(ThreadPool& pool);

/// All three; takes about a second.
MachineSpeed measure_machine_speed(ThreadPool& pool);

/// The instruction set that matrix products are computed with: "AVX-512 VNNI", …
std::string_view instruction_set();

}  // namespace spectr
