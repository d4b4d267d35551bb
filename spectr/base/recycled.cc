#include "spectr/base/recycled.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define SPECTR_KEEPS_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPECTR_KEEPS_MEMORY false
#endif
#endif
#ifndef SPECTR_KEEPS_MEMORY
#define SPECTR_KEEPS_MEMORY true
#endif

namespace spectr::recycled {
namespace {

constexpr bool keeps_memory = SPECTR_KEEPS_MEMORY;

/// A free piece of memory, linked to the next free one of its size.
struct Piece {
  Piece* next;
};

/// A thread's free lists; sizes[i] holds pieces of 2^i bytes.
struct Shelf {
  struct Size {
    Piece* first = nullptr;
    std::size_t kept = 0;
    std::size_t used = 0;
    std::size_t max_used = 0;
  };
  std::array<Size, 64> sizes;
  bool closed = false;
};

// No destructor, so that objects destroyed after other thread-local objects can still be given back.
constinit thread_local Shelf shelf;

/// Frees the thread's kept memory when it ends.
struct Closing {
  ~Closing() {
    shelf.closed = true;
    trim();
  }
};

std::size_t size_class(std::size_t bytes) {
  constexpr std::size_t least = 32;
  return static_cast<std::size_t>(std::bit_width(std::max(bytes, least) - 1));
}

}  // namespace

bool keeps() {
  return keeps_memory;
}

void* take(std::size_t bytes) {
  const std::size_t i = size_class(bytes);
  Shelf::Size& size = shelf.sizes[i];
  void* const memory = size.first == nullptr ? ::operator new(std::size_t{1} << i) : size.first;
  if (size.first != nullptr) {
    size.first = size.first->next;
    --size.kept;
  }
  size.max_used = std::max(size.max_used, ++size.used);
  return memory;
}

void give(void* memory, std::size_t bytes) noexcept {
  thread_local const Closing closing;
  const std::size_t i = size_class(bytes);
  Shelf::Size& size = shelf.sizes[i];
  if (size.used > 0) --size.used;  // 0 if other threads took the pieces
  if (!keeps_memory || shelf.closed || size.kept + size.used >= size.max_used) {
    ::operator delete(memory);
    return;
  }
  size.first = new (memory) Piece{size.first};
  ++size.kept;
}

void trim() noexcept {
  for (Shelf::Size& size : shelf.sizes) {
    while (size.first != nullptr) ::operator delete(std::exchange(size.first, size.first->next));
    size.kept = 0;
    size.max_used = size.used;
  }
}

}  // namespace spectr::recycled
