#pragma once

#include <cstddef>
#include <utility>

namespace spectr {

/// A share in a block of a BlockPool, or none: the block is given back when nobody holds it any more. Who
/// holds a block that others may hold too writes to a copy of it. Shares may be on any threads, and may
/// outlive the pool.
class SharedBlock {
 public:
  SharedBlock() = default;
  SharedBlock(const SharedBlock& other) noexcept;
  SharedBlock(SharedBlock&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedBlock& operator=(SharedBlock other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~SharedBlock();

  /// The block's memory. Requires: it holds one.
  std::byte* data() const;

  friend bool operator==(const SharedBlock&, const SharedBlock&) = default;

 private:
  friend class BlockPool;
  struct Block;
  explicit SharedBlock(Block* block) : block_(block) {}

  Block* block_ = nullptr;
};

/// Blocks of one size, in segments of the system's memory: the pool grows without copying anything, a block
/// takes memory only as it is written to, and a segment that no block is held of goes back to the system, but
/// for one. Thread-safe.
class BlockPool {
 public:
  /// Requires: block_bytes > 0.
  explicit BlockPool(std::size_t block_bytes);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Returns a block that nobody holds. It begins at a multiple of 64 bytes; what it holds is zeros, or what
  /// another holder has left. Asks for memory where all segments are full. Throws std::bad_alloc.
  SharedBlock take();

  std::size_t block_bytes() const { return block_bytes_; }
  /// Blocks that are held.
  std::size_t used_blocks() const;

 private:
  friend class SharedBlock;
  class Segments;

  std::size_t block_bytes_;
  Segments* segments_;  // lives as long as the pool and the last of its blocks
};

}  // namespace spectr
