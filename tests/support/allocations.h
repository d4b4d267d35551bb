#pragma once

#include <cstddef>

namespace spectr::test {

/// Returns the number of allocations so far. Linking this function replaces the global operator new.
std::size_t allocations();

/// While it exists, allocations of `bytes` or more fail. Only one instance may exist at a time.
class ScarceMemory {
 public:
  explicit ScarceMemory(std::size_t bytes);
  ~ScarceMemory();
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;
};

}  // namespace spectr::test
