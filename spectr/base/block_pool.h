#pragma once

#include <cstddef>
#include <memory>

namespace spectr {

/// A block of memory that sequences share. Who holds one that others may hold too writes to a copy of it.
using SharedBlock = std::shared_ptr<std::byte[]>;

/// Blocks of one size, in segments of the system's memory: the pool grows without copying anything, a block
/// takes memory only as it is written to, and a segment that no block is held of goes back to the system, but
/// for one. Thread-safe. Blocks may outlive the pool.
class BlockPool {
 public:
  /// Requires: block_bytes > 0.
  explicit BlockPool(std::size_t block_bytes);

  /// Returns a block that nobody holds. It begins at a multiple of 64 bytes; what it holds is zeros, or what
  /// another holder has left. Throws std::bad_alloc.
  SharedBlock take();

  std::size_t block_bytes() const { return block_bytes_; }
  /// Blocks that are held.
  std::size_t used_blocks() const;

 private:
  class Segments;

  std::size_t block_bytes_;
  std::shared_ptr<Segments> segments_;  // held by every block, too
};

}  // namespace spectr
