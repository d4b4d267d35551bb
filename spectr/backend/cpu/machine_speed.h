#pragma once

#include <string_view>

#include "spectr/base/thread_pool.h"
#include "spectr/nn/pass_profile.h"

namespace spectr {

// Measures the machine's peak rates with the threads of a pool: the roofline that bounds every pass of a
// model (Williams, Waterman, Patterson 2009). Each measurement takes a fraction of a second and returns the
// best of several repetitions, because other programs can only slow it down.

/// Returns the memory read bandwidth in bytes per second. Reads 256 MiB, more than caches hold, as four
/// concurrent streams, which is faster than one.
double memory_bytes_per_second(ThreadPool& pool);

/// Returns the integer multiply-adds per second of matrix products with cached weights: the maximum of
/// Q8_0 and Q4_0, because some machines process 4-bit quants faster, at the most efficient number of
/// rows.
double integer_macs_per_second(ThreadPool& pool);

/// Returns the floating-point multiply-adds per second, with F32 weights.
double float_macs_per_second(ThreadPool& pool);

/// Measures all three rates; takes about a second.
MachineSpeed measure_machine_speed(ThreadPool& pool);

/// Returns the instruction set of matrix products: "AVX-512 VNNI", …
std::string_view instruction_set();

}  // namespace spectr
