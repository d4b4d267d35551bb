#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace spectr {

/// Memory for what is made and dropped all the time, in a few sizes: distributions, plans, drafts. A thread
/// keeps what it gives back and takes it again, so that a decoding loop asks the system for nothing once it
/// has seen its sizes. Sizes are rounded up to powers of two. Of a size, a thread never keeps more pieces
/// than the most by which those that it took were ahead of those that it gave back, whichever thread took or
/// gives back the same piece; when it ends or trims, it gives all back to the system. Under AddressSanitizer
/// nothing is kept, so that it sees every use after the end.
namespace recycled {

/// Whether this build keeps memory.
bool keeps();

/// Throws std::bad_alloc where the system has no memory. Aligned as operator new aligns. O(1).
void* take(std::size_t bytes);
/// Gives back what take(bytes) gave, on any thread. O(1).
void give(void* memory, std::size_t bytes) noexcept;
/// Gives all memory that this thread keeps back to the system, and forgets which sizes it has seen. Call it
/// when the thread becomes idle.
void trim() noexcept;

}  // namespace recycled

/// The allocator of such memory, for types that need no more than operator new's alignment.
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

/// Base of classes whose single objects (std::make_unique) live in such memory. Where they are deleted
/// through a base class, its destructor is virtual. None may ask for more than operator new's alignment.
struct RecycledObject {
  static void* operator new(std::size_t bytes) { return recycled::take(bytes); }
  static void* operator new(std::size_t, std::align_val_t) = delete;
  static void operator delete(void* memory, std::size_t bytes) noexcept { recycled::give(memory, bytes); }
};

}  // namespace spectr
