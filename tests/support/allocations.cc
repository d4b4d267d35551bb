#include "tests/support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "spectr/base/numeric.h"

namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> count = 0, too_much = everything;

void* allocate(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  return size < too_much ? std::malloc(size == 0 ? 1 : size) : nullptr;
}

}  // namespace

// All allocations pass through here. (If this is inlined, GCC takes malloc and free for a mismatched pair.)
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto multiple = static_cast<std::size_t>(alignment);
  count.fetch_add(1, std::memory_order_relaxed);
  void* const memory =
      size < too_much ? std::aligned_alloc(multiple, spectr::round_up(size, multiple)) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace spectr::test {

std::size_t allocations() {
  return count;
}

ScarceMemory::ScarceMemory(std::size_t bytes) {
  too_much = bytes;
}

ScarceMemory::~ScarceMemory() {
  too_much = everything;
}

}  // namespace spectr::test
