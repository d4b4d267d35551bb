#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace spectr::test {

/// Returns the beginnings of blocks with a stride of `stride` bytes: see CachedBlocks.
template <class Byte>
std::vector<Byte*> block_table(std::span<Byte> memory, std::size_t stride) {
  std::vector<Byte*> table;
  for (std::size_t begin = 0; begin < memory.size(); begin += stride) table.push_back(&memory[begin]);
  return table;
}

}  // namespace spectr::test
