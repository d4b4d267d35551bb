#pragma once

#include <cstddef>

namespace spectr::test {

/// How often this program has asked for memory so far. A program that calls it has its own operator new.
std::size_t allocations();

/// While it lives, the program gets no pieces of memory of `bytes` or more. One at a time.
class ScarceMemory {
 public:
  explicit ScarceMemory(std::size_t bytes);
  ~ScarceMemory();
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;
};

}  // namespace spectr::test
