#pragma once

// The primitives of device code: threads, barriers, asynchronous copies, rounding. They use CUDA for Hopper
// or, with SPECTR_BEFORE_HOPPER, for GPUs from Turing on, which lack some of them. A header included before
// this one can replace them: tests run the same kernels on the CPU.

#include <cstdint>

namespace spectr::cuda {

// Types of vectorized loads and stores.
struct alignas(8) Two {
  float x, y;
};
struct alignas(16) Four {
  float x, y, z, w;
};
struct alignas(8) TwoWords {
  std::uint32_t x, y;
};

}  // namespace spectr::cuda

#if !defined(SPECTR_DEVICE)

#if defined(__clang__)
#include "spectr/backend/cuda/kernels/clang_words.h"
#endif

#define SPECTR_DEVICE __device__ __forceinline__
#define SPECTR_SHARED __shared__
#define SPECTR_PRAGMA(text) _Pragma(#text)
#define SPECTR_UNROLL SPECTR_PRAGMA(unroll)
#define SPECTR_UNROLL_BY(n) SPECTR_PRAGMA(unroll n)

namespace spectr::cuda {

using u8 = std::uint8_t;    // NOLINT(readability-identifier-naming)
using u32 = std::uint32_t;  // NOLINT(readability-identifier-naming)

SPECTR_DEVICE int thread() {
  return static_cast<int>(threadIdx.x);
}
SPECTR_DEVICE int group_x() {
  return static_cast<int>(blockIdx.x);
}
SPECTR_DEVICE int group_y() {
  return static_cast<int>(blockIdx.y);
}
SPECTR_DEVICE int groups_x() {
  return static_cast<int>(gridDim.x);
}
SPECTR_DEVICE void group_barrier() {
  __syncthreads();
}
SPECTR_DEVICE void warp_barrier() {
  __syncwarp();
}
template <class T>
SPECTR_DEVICE T shuffle_xor(T v, int mask) {
  return __shfl_xor_sync(~0u, v, mask);
}

// Each operation rounds once, to nearest; operations are never contracted.
SPECTR_DEVICE float add(float a, float b) {
  return __fadd_rn(a, b);
}
SPECTR_DEVICE float sub(float a, float b) {
  return __fsub_rn(a, b);
}
SPECTR_DEVICE float mul(float a, float b) {
  return __fmul_rn(a, b);
}
SPECTR_DEVICE float fma(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
SPECTR_DEVICE float divide(float a, float b) {
  return __fdiv_rn(a, b);
}
SPECTR_DEVICE float root(float a) {
  return __fsqrt_rn(a);
}
SPECTR_DEVICE float larger(float a, float b) {
  return fmaxf(a, b);
}
SPECTR_DEVICE float float_of(u32 bits) {
  return __uint_as_float(bits);
}
SPECTR_DEVICE u32 bits_of(float value) {
  return __float_as_uint(value);
}
/// Returns the f16 number in the low 16 bits.
SPECTR_DEVICE float low_half(u32 halves) {
  float value;
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}" : "=f"(value) : "r"(halves));
  return value;
}
SPECTR_DEVICE float high_half(u32 halves) {
  float value;
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high;}" : "=f"(value) : "r"(halves));
  return value;
}
/// Rounds two floats to f16, saturating at ±65504; the first is in the low 16 bits.
SPECTR_DEVICE u32 halves_of(float low, float high) {
  u32 halves;
#if defined(SPECTR_BEFORE_HOPPER)
  constexpr float most = 65504;
  low = low > most ? most : low < -most ? -most : low;
  high = high > most ? most : high < -most ? -most : high;
  asm("{.reg .b16 a, b; cvt.rn.f16.f32 a, %1; cvt.rn.f16.f32 b, %2; mov.b32 %0, {a, b};}"
      : "=r"(halves)
      : "f"(low), "f"(high));
#else
  asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
#endif
  return halves;
}
/// Returns bytes of b:a: byte i of the result is byte (selector >> 4 i & 7).
SPECTR_DEVICE u32 pick_bytes(u32 a, u32 b, u32 selector) {
  return __byte_perm(a, b, selector);
}

/// Returns the sum of four signed bytes.
SPECTR_DEVICE int sum_of_bytes(u32 bytes) {
  return __dp4a(static_cast<int>(bytes), 0x01010101, 0);
}
/// Returns c + Σ a b over four signed bytes each.
SPECTR_DEVICE int sum_of_products(u32 a, u32 b, int c) {
  return __dp4a(static_cast<int>(a), static_cast<int>(b), c);
}

// Access to shared memory by address.
extern __shared__ __align__(128) u8 dynamic_shared[];
SPECTR_DEVICE u8* shared_memory() {
  return dynamic_shared;
}
SPECTR_DEVICE u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
SPECTR_DEVICE u32 load_shared(u32 at) {
  u32 r;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(at));
  return r;
}
SPECTR_DEVICE void load_shared(u32 (&r)[4], u32 at) {
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}
SPECTR_DEVICE void load_shared(float (&r)[4], u32 at) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
               : "r"(at));
}
/// Loads four 8×8 matrices of 16-bit elements from the 16-byte rows at the lanes' addresses.
SPECTR_DEVICE void load_matrices(u32 (&r)[4], u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}

// Loads of numbers that other kernels wrote: they bypass the L1 cache, because kernels may start early.
SPECTR_DEVICE float load(const float* p) {
  return __ldcg(p);
}
SPECTR_DEVICE int load(const int* p) {
  return static_cast<int>(bits_of(load(reinterpret_cast<const float*>(p))));
}
SPECTR_DEVICE Two load(const Two* p) {
  const float2 v = __ldcg(reinterpret_cast<const float2*>(p));
  return {v.x, v.y};
}
SPECTR_DEVICE Four load(const Four* p) {
  const float4 v = __ldcg(reinterpret_cast<const float4*>(p));
  return {v.x, v.y, v.z, v.w};
}
SPECTR_DEVICE u32 load(const u32* p) {
  return __ldcg(p);
}
SPECTR_DEVICE TwoWords load(const TwoWords* p) {
  const uint2 v = __ldcg(reinterpret_cast<const uint2*>(p));
  return {v.x, v.y};
}

// Transaction barriers in shared memory, used by bulk copies.
SPECTR_DEVICE void start_barrier(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// Makes initialized barriers visible to copies; a group barrier must follow.
SPECTR_DEVICE void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives, and makes the current phase wait for `bytes` more bytes.
SPECTR_DEVICE void expect_bytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
SPECTR_DEVICE void arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Waits until the phase with this parity is complete.
SPECTR_DEVICE void wait(u32 barrier, u32 parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 0x989680;\n"
      "@done bra over;\nbra again;\nover:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Starts a bulk copy to shared memory that signals the barrier. Addresses and size: multiples of 16 bytes.
SPECTR_DEVICE void copy_to_shared(u32 to, const void* from, u32 bytes, u32 barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// Asynchronous copies by single threads, for GPUs from Ampere on without bulk copies.
/// Starts a copy of 16 bytes to shared memory.
SPECTR_DEVICE void copy_line(u32 to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
/// Starts a copy of a 4-byte word to shared memory.
SPECTR_DEVICE void copy_word(u32 to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
/// Commits this thread's copies since the last call as one group.
SPECTR_DEVICE void end_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most the last `pending` groups are incomplete.
template <int pending>
SPECTR_DEVICE void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Allows the next kernel to start: its code before predecessors() overlaps with this kernel.
SPECTR_DEVICE void dependents() {
#if !defined(SPECTR_BEFORE_HOPPER)
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until all previous kernels have ended and their writes are visible.
SPECTR_DEVICE void predecessors() {
#if !defined(SPECTR_BEFORE_HOPPER)
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Computes d = c + A B for a 16 × 32 matrix A and a 32 × 8 matrix B of signed bytes and a constant c. With g
/// = lane / 4 and t = lane mod 4: a[i] is row g + 8 (i mod 2), columns 4t … 4t + 3 of half i / 2; b[i] has
/// the same columns of column g of B; d[i] is row g + 8 (i / 2), column 2t + i mod 2.
SPECTR_DEVICE void multiply_bytes(int (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, int c) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%10,%10,%10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c));
}

/// Computes the same for a 16 × 16 matrix A and a 16 × 8 matrix B: the first halves of the above.
SPECTR_DEVICE void multiply_bytes(int (&d)[4], u32 a0, u32 a1, u32 b, int c) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(a0), "r"(a1), "r"(b), "r"(c));
}

}  // namespace spectr::cuda

#endif
