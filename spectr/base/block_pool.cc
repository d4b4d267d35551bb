#include "spectr/base/block_pool.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/zeroed_pages.h"

namespace spectr {
namespace {

/// Bytes of a segment, at least: some of the system's large pages.
constexpr std::size_t segment_bytes = std::size_t{32} << 20;

constexpr std::size_t alignment = 64;

}  // namespace

class BlockPool::Segments {
 public:
  struct Segment;

  explicit Segments(std::size_t block_bytes)
      : apart_(round_up(block_bytes, alignment)), blocks_(div_up(segment_bytes, apart_)) {}

  /// A block, and the segment that it is of. Earlier segments come first, so that later ones become empty.
  struct Place {
    std::byte* block;
    Segment* segment;
  };
  Place take() {
    const std::lock_guard lock(mutex_);
    auto segment = std::ranges::find_if(segments_, [](const Segment& one) { return !one.free.empty(); });
    if (segment == segments_.end()) segment = segments_.emplace(segments_.end(), blocks_, apart_);
    std::byte* const block = segment->free.back();
    segment->free.pop_back();
    ++used_;
    return {block, &*segment};
  }

  void give_back(const Place& place) noexcept {
    const std::lock_guard lock(mutex_);
    place.segment->free.push_back(place.block);  // takes no memory: it had as many
    --used_;
    if (place.segment->free.size() < blocks_ || segments_.size() == 1) return;
    segments_.remove_if([&](const Segment& one) { return &one == place.segment; });
  }

  std::size_t used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }

  struct Segment {
    Segment(std::size_t blocks, std::size_t apart) : pages(blocks * apart) {
      for (std::size_t i = blocks; i > 0; --i) free.push_back(pages.data() + (i - 1) * apart);
    }
    ZeroedPages pages;
    std::vector<std::byte*> free;  // the last one is taken first
  };

 private:
  const std::size_t apart_, blocks_;
  mutable std::mutex mutex_;
  std::list<Segment> segments_;
  std::size_t used_ = 0;
};

BlockPool::BlockPool(std::size_t block_bytes)
    : block_bytes_(block_bytes), segments_(std::make_shared<Segments>(block_bytes)) {
  SPECTR_CHECK(block_bytes > 0);
}

SharedBlock BlockPool::take() {
  const Segments::Place place = segments_->take();
  // Where this throws, the block is given back.
  return {place.block, [segments = segments_, place](std::byte*) { segments->give_back(place); }};
}

std::size_t BlockPool::used_blocks() const {
  return segments_->used();
}

}  // namespace spectr
