#pragma once

// Implements the functions of spectr/backend/cuda/kernels/device.h on the CPU; must be included before any
// kernel. The threads of a group are fibers of one thread. So kernels run without a GPU, under every
// sanitizer, with the same bits as on a GPU. Groups run one after another.
//
// A thread runs until it synchronizes: at a barrier, a shuffle, a warp-wide instruction, or a wait for a
// copy. The next thread is selected at random. Copies are executed when they are issued or, if `lazy`,
// when they are awaited: the first mode detects memory that is reused too early, the second a missing
// wait. The program ends if not all threads reach a barrier, if a copy is awaited with a different number
// of bytes, or if an address is misaligned.
//
// With `exchange_memory`, a group sees other memory until all of its threads wait for predecessors: what
// kernels read too early is then not what their predecessors write.
//
// It cannot detect: wrong assumptions about an instruction's semantics, and races within a warp.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "spectr/gguf/f16.h"

#define SPECTR_DEVICE inline
#define SPECTR_SHARED static
#define SPECTR_UNROLL
#define SPECTR_UNROLL_BY(n)

namespace spectr::cuda {

using u8 = std::uint8_t;    // NOLINT(readability-identifier-naming)
using u32 = std::uint32_t;  // NOLINT(readability-identifier-naming)

namespace fibers {

/// A launch configuration.
struct Launch {
  int groups_x, groups_y, threads;
  int shared = 0;  ///< bytes of dynamic shared memory
  bool lazy = false;
  /// Exchanges the memory for the one that a group sees before predecessors(), and back; optional.
  std::function<void()> exchange_memory = {};
};

/// Runs `kernel` as every thread of every group. Not thread-safe.
void launch(const Launch& how, const std::function<void()>& kernel);

/// The indices of the running thread.
struct Place {
  int thread, group_x, group_y;
};
const Place& place();
const Launch& launched();

void group_barrier();
/// Exchanges `words` words (at most 8) per thread within the warp. Returns [lane][word] once all arrived.
using Exchanged = u32[32][8];
const Exchanged& exchange(const u32* mine, int words);

/// Returns shared memory at an address. Ends the program if it is out of bounds or not aligned to `bytes`.
u8* shared(u32 address, u32 bytes);
u32 address_of(const void* shared);

void start_barrier(u32 barrier, u32 arrivals);
void arrive(u32 barrier, u32 bytes);
void copy(u32 to, const void* from, u32 bytes, u32 barrier);
void wait(u32 barrier, u32 parity);

// Asynchronous copies that are tracked per thread.
void copy_own(u32 to, const void* from, u32 bytes);
void end_copies();
void await_copies(std::size_t pending);

void await_predecessors();

/// Ends the program if the pointer is not aligned to `bytes`.
void check_aligned(const void* p, std::size_t bytes);

}  // namespace fibers

inline int thread() {
  return fibers::place().thread;
}
inline int group_x() {
  return fibers::place().group_x;
}
inline int group_y() {
  return fibers::place().group_y;
}
inline int groups_x() {
  return fibers::launched().groups_x;
}
inline void group_barrier() {
  fibers::group_barrier();
}
inline void warp_barrier() {
  fibers::exchange(nullptr, 0);
}
template <class T>
T shuffle_xor(T v, int mask) {
  static_assert(sizeof v == 4);
  const u32 mine = std::bit_cast<u32>(v);
  return std::bit_cast<T>(fibers::exchange(&mine, 1)[(thread() ^ mask) % 32][0]);
}

inline float add(float a, float b) {
  return a + b;
}
inline float sub(float a, float b) {
  return a - b;
}
inline float mul(float a, float b) {
  return a * b;
}
inline float fma(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline float divide(float a, float b) {
  return a / b;
}
inline float root(float a) {
  return std::sqrt(a);
}
inline float larger(float a, float b) {
  return std::fmax(a, b);
}
inline float float_of(u32 bits) {
  return std::bit_cast<float>(bits);
}
inline u32 bits_of(float value) {
  return std::bit_cast<u32>(value);
}
inline float low_half(u32 halves) {
  return f16_to_float(static_cast<std::uint16_t>(halves));
}
inline float high_half(u32 halves) {
  return f16_to_float(static_cast<std::uint16_t>(halves >> 16));
}
inline u32 halves_of(float low, float high) {
  return round_to_f16(low).bits | static_cast<u32>(round_to_f16(high).bits) << 16;
}
inline u32 pick_bytes(u32 a, u32 b, u32 selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
  u32 picked = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 byte = static_cast<u32>(both >> (selector >> 4 * i & 7) * 8) & 255;
    picked |= byte << 8 * i;
  }
  return picked;
}
inline int byte_of(u32 bytes, int i) {
  return static_cast<std::int8_t>(bytes >> 8 * i);
}
inline int sum_of_bytes(u32 bytes) {
  return byte_of(bytes, 0) + byte_of(bytes, 1) + byte_of(bytes, 2) + byte_of(bytes, 3);
}
inline int sum_of_products(u32 a, u32 b, int c) {
  for (int i = 0; i < 4; ++i) c += byte_of(a, i) * byte_of(b, i);
  return c;
}

u8* shared_memory();
inline u32 shared_address(const void* p) {
  return fibers::address_of(p);
}
inline u32 load_shared(u32 at) {
  u32 r;
  std::memcpy(&r, fibers::shared(at, 4), 4);
  return r;
}
inline void load_shared(u32 (&r)[4], u32 at) {
  std::memcpy(r, fibers::shared(at, 16), 16);
}
inline void load_shared(float (&r)[4], u32 at) {
  std::memcpy(r, fibers::shared(at, 16), 16);
}
inline void load_matrices(u32 (&r)[4], u32 at) {
  const fibers::Exchanged& lines = fibers::exchange(&at, 1);
  const int lane = thread() % 32;
  for (int i = 0; i < 4; ++i) {
    std::memcpy(&r[i], fibers::shared(lines[8 * i + lane / 4][0], 16) + lane % 4 * 4, 4);
  }
}

template <class T>
T load(const T* p) {
  fibers::check_aligned(p, sizeof(T));
  return *p;
}

inline void start_barrier(u32 barrier, u32 arrivals) {
  fibers::start_barrier(barrier, arrivals);
}
inline void publish_barriers() {}
inline void expect_bytes(u32 barrier, u32 bytes) {
  fibers::arrive(barrier, bytes);
}
inline void arrive(u32 barrier) {
  fibers::arrive(barrier, 0);
}
inline void wait(u32 barrier, u32 parity) {
  fibers::wait(barrier, parity);
}
inline void copy_to_shared(u32 to, const void* from, u32 bytes, u32 barrier) {
  fibers::copy(to, from, bytes, barrier);
}
inline void copy_line(u32 to, const void* from) {
  fibers::copy_own(to, from, 16);
}
inline void copy_word(u32 to, const void* from) {
  fibers::copy_own(to, from, 4);
}
inline void end_copies() {
  fibers::end_copies();
}
template <int pending>
void await_copies() {
  fibers::await_copies(pending);
}
inline void dependents() {}
inline void predecessors() {
  fibers::await_predecessors();
}

inline void multiply_bytes(int (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, int c) {
  const u32 mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  const fibers::Exchanged& all = fibers::exchange(mine, 6);
  const int g = thread() % 32 / 4, t = thread() % 4;
  for (int i = 0; i < 4; ++i) {
    const int row = g + 8 * (i / 2), column = 2 * t + i % 2;
    d[i] = c;
    for (int k = 0; k < 32; ++k) {
      const u32 of_a = all[4 * (row % 8) + k % 16 / 4][row / 8 + k / 16 * 2];
      const u32 of_b = all[4 * column + k % 16 / 4][4 + k / 16];
      d[i] += byte_of(of_a, k % 4) * byte_of(of_b, k % 4);
    }
  }
}

inline void multiply_bytes(int (&d)[4], u32 a0, u32 a1, u32 b, int c) {
  multiply_bytes(d, {a0, a1, 0, 0}, b, 0, c);
}

}  // namespace spectr::cuda
