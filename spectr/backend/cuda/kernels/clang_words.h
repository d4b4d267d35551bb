#pragma once

// CUDA built-ins for clang, which compiles kernels without the CUDA toolkit: the declarations of nvcc's
// headers that kernels need, implemented in PTX.

#include <cstdint>

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

// NOLINTBEGIN: the names are CUDA's
struct SpectrPlace {
  int x, y;
};
#define threadIdx (SpectrPlace{__nvvm_read_ptx_sreg_tid_x(), 0})
#define blockIdx (SpectrPlace{__nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y()})
#define gridDim (SpectrPlace{__nvvm_read_ptx_sreg_nctaid_x(), 0})
#define INFINITY __builtin_huge_valf()

__device__ __forceinline__ void __syncwarp() {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
__device__ __forceinline__ std::uint32_t __spectr_shuffle_xor(std::uint32_t v, int mask) {
  std::uint32_t r;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(r) : "r"(v), "r"(mask));
  return r;
}
template <class T>
__device__ __forceinline__ T __shfl_xor_sync(unsigned, T v, int mask) {
  static_assert(sizeof(T) == 4);
  return __builtin_bit_cast(T, __spectr_shuffle_xor(__builtin_bit_cast(std::uint32_t, v), mask));
}
__device__ __forceinline__ float __fadd_rn(float a, float b) {
  return __nvvm_add_rn_f(a, b);
}
__device__ __forceinline__ float __fsub_rn(float a, float b) {
  return __nvvm_add_rn_f(a, -b);
}
__device__ __forceinline__ float __fmul_rn(float a, float b) {
  return __nvvm_mul_rn_f(a, b);
}
__device__ __forceinline__ float __fmaf_rn(float a, float b, float c) {
  return __nvvm_fma_rn_f(a, b, c);
}
__device__ __forceinline__ float __fdiv_rn(float a, float b) {
  return __nvvm_div_rn_f(a, b);
}
__device__ __forceinline__ float __fsqrt_rn(float a) {
  return __nvvm_sqrt_rn_f(a);
}
__device__ __forceinline__ float fmaxf(float a, float b) {
  return __nvvm_fmax_f(a, b);
}
__device__ __forceinline__ float __uint_as_float(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
__device__ __forceinline__ std::uint32_t __float_as_uint(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
__device__ __forceinline__ std::uint32_t __byte_perm(std::uint32_t a, std::uint32_t b,
                                                     std::uint32_t selector) {
  std::uint32_t r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}
__device__ __forceinline__ int __dp4a(int a, int b, int c) {
  int r;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ std::uint64_t __cvta_generic_to_shared(const void* p) {
  std::uint64_t r;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(r) : "l"(p));
  return r;
}

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  std::uint32_t x, y;
};
__device__ __forceinline__ float __ldcg(const float* p) {
  float v;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ float2 __ldcg(const float2* p) {
  float2 v;
  asm volatile("ld.global.cg.v2.f32 {%0,%1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ float4 __ldcg(const float4* p) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p)
               : "memory");
  return v;
}
__device__ __forceinline__ unsigned __ldcg(const unsigned* p) {
  unsigned v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ uint2 __ldcg(const uint2* p) {
  uint2 v;
  asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p) : "memory");
  return v;
}
// NOLINTEND
