#pragma once

#include <cstddef>
#include <utility>

namespace spectr {

/// A reference-counted handle to a block of a BlockPool, possibly empty. The block returns to the pool when
/// its last holder is gone. A holder must not write to a block that others may hold; it writes to a copy
/// instead. Handles can live on any thread and can outlive the pool.
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

  /// Returns the block's memory. Requires: the handle is not empty.
  std::byte* data() const;

  friend bool operator==(const SharedBlock&, const SharedBlock&) = default;

 private:
  friend class BlockPool;
  struct Block;
  explicit SharedBlock(Block* block) : block_(block) {}

  Block* block_ = nullptr;
};

/// A pool of blocks of one size, allocated from the system in segments. The pool grows without copying, and a
/// block occupies physical memory only once it is written to. Segments without held blocks are returned to
/// the system, except for one. Thread-safe.
class BlockPool {
 public:
  /// Requires: block_bytes > 0.
  explicit BlockPool(std::size_t block_bytes);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Returns a block that nobody else holds, aligned to 64 bytes. It contains zeros or the data of a former
  /// holder. Allocates a new segment if all are full. Throws std::bad_alloc.
  SharedBlock take();

  std::size_t block_bytes() const { return block_bytes_; }
  /// Number of blocks that are held.
  std::size_t used_blocks() const;

 private:
  friend class SharedBlock;
  class Segments;

  std::size_t block_bytes_;
  Segments* segments_;  // lives until both the pool and its last held block are gone
};

}  // namespace spectr
