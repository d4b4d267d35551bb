#pragma once

#include <cstddef>

namespace spectr::test {

/// How often this program has asked for memory so far. A program that calls it has its own operator new.
std::size_t allocations();

}  // namespace spectr::test
