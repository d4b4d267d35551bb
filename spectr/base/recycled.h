#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace spectr {

/// Memory for short-lived objects of few sizes: distributions, plans, drafts. A thread keeps freed memory and
/// reuses it, so that a decoding loop allocates nothing from the system once it has seen its sizes. Sizes are
/// rounded up to powers of two. For each size, a thread keeps at most as many pieces as it has had in use at
/// once, counted as pieces taken minus pieces given back on this thread, even if another thread took them.
/// All kept memory returns to the system when the thread ends or trims. Under AddressSanitizer nothing is
/// kept, so that every use after free is detected.
namespace recycled {

/// Returns true if this build keeps freed memory.
bool keeps();

/// Allocates memory with the alignment of operator new. Throws std::bad_alloc. O(1).
void* take(std::size_t bytes);
/// Frees memory that take(bytes) returned on any thread. O(1).
void give(void* memory, std::size_t bytes) noexcept;
/// Returns all memory that this thread keeps to the system and resets its usage peaks. Call it when the
/// thread becomes idle.
void trim() noexcept;

}  // namespace recycled

/// Allocator of recycled memory, for types that need no more than operator new's alignment.
template <class T>
struct RecyclingAllocator {
  using value_type = T;

  RecyclingAllocator() = default;
  template <class Other>
  RecyclingAllocator(const RecyclingAllocator<Other>&) {}

  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (n > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(recycled::take(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    recycled::give(static_cast<void*>(memory), n * sizeof(T));
  }

  friend bool operator==(RecyclingAllocator, RecyclingAllocator) { return true; }
};

template <class T>
using RecycledVector = std::vector<T, RecyclingAllocator<T>>;

/// Base of classes whose single objects (std::make_unique) live in recycled memory. If they are deleted
/// through a base class, its destructor must be virtual. Over-aligned classes are not supported.
struct RecycledObject {
  static void* operator new(std::size_t bytes) { return recycled::take(bytes); }
  static void* operator new(std::size_t, std::align_val_t) = delete;
  static void operator delete(void* memory, std::size_t bytes) noexcept { recycled::give(memory, bytes); }
};

}  // namespace spectr
