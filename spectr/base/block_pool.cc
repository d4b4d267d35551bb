#include "spectr/base/block_pool.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/os/pages.h"

namespace spectr {
namespace {

/// Minimum segment size in bytes: several of the system's huge pages.
constexpr std::size_t segment_bytes = std::size_t{32} << 20;

constexpr std::size_t alignment = 64;

}  // namespace

struct SharedBlock::Block {
  std::byte* memory;
  BlockPool::Segments* pool;
  void* segment;
  std::atomic<std::size_t> holders = 0;
};

class BlockPool::Segments {
 public:
  using Block = SharedBlock::Block;

  explicit Segments(std::size_t block_bytes)
      : stride_(round_up(block_bytes, alignment)), blocks_(div_up(segment_bytes, stride_)) {}

  /// Returns a free block. Prefers earlier segments, so that later ones become empty and can be freed.
  Block* take() {
    const std::lock_guard lock(mutex_);
    auto segment = std::ranges::find_if(segments_, [](const Segment& one) { return !one.free.empty(); });
    if (segment == segments_.end()) segment = segments_.emplace(segments_.end(), *this);
    Block* const block = segment->free.back();
    segment->free.pop_back();
    block->holders.store(1, std::memory_order_relaxed);
    ++used_;
    return block;
  }

  /// Takes back a block without holders. Returns true if the pool is gone and no block is held any more.
  bool give_back(Block& block) {
    const std::lock_guard lock(mutex_);
    auto& segment = *static_cast<Segment*>(block.segment);
    segment.free.push_back(&block);  // does not allocate: capacity for all blocks is reserved
    --used_;
    if (segment.free.size() == blocks_ && segments_.size() > 1)
      segments_.remove_if([&](const Segment& one) { return &one == &segment; });
    return is_abandoned_ && used_ == 0;
  }

  /// Marks the pool as gone. Returns true if no block is held.
  bool abandon() {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
    return used_ == 0;
  }

  std::size_t used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }

 private:
  struct Segment {
    explicit Segment(Segments& pool)
        : pages(pool.blocks_ * pool.stride_), all(std::make_unique<Block[]>(pool.blocks_)) {
      free.reserve(pool.blocks_);
      for (std::size_t i = pool.blocks_; i-- > 0;) {
        all[i].memory = pages.data() + i * pool.stride_;
        all[i].pool = &pool;
        all[i].segment = this;
        free.push_back(&all[i]);
      }
    }
    ZeroedPages pages;
    std::unique_ptr<Block[]> all;
    std::vector<Block*> free;  // used as a stack
  };

  const std::size_t stride_, blocks_;
  mutable std::mutex mutex_;
  std::list<Segment> segments_;
  std::size_t used_ = 0;
  bool is_abandoned_ = false;
};

SharedBlock::SharedBlock(const SharedBlock& other) noexcept : block_(other.block_) {
  if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
}

SharedBlock::~SharedBlock() {
  if (block_ == nullptr || block_->holders.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (BlockPool::Segments* const pool = block_->pool; pool->give_back(*block_)) delete pool;
}

std::byte* SharedBlock::data() const {
  return block_->memory;
}

BlockPool::BlockPool(std::size_t block_bytes)
    : block_bytes_(block_bytes), segments_(new Segments(block_bytes)) {}

BlockPool::~BlockPool() {
  if (segments_->abandon()) delete segments_;
}

SharedBlock BlockPool::take() {
  return SharedBlock(segments_->take());
}

std::size_t BlockPool::used_blocks() const {
  return segments_->used();
}

}  // namespace spectr
