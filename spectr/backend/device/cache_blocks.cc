#include "spectr/backend/device/cache_blocks.h"

#include <algorithm>
#include <new>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

constexpr auto slots = static_cast<std::size_t>(chunk_slots);
constexpr int q8 = static_cast<int>(KvType::q8_0);

/// Appends the words of a head that begins at byte `begin` of a block.
void add_lines(const HeadLayout& head, std::size_t begin, std::vector<MoveLine>& lines) {
  const auto add = [&](int first, int second) {  // offsets in slots 0 and 1
    const auto at = static_cast<unsigned>(begin) + static_cast<unsigned>(first);
    lines.push_back({at / 4, static_cast<unsigned>(second - first) / 4});
  };
  const auto add_four = [&](int first, int second, int type) {
    for (int byte = 0; byte < 4 * bytes_of_cached(type); byte += 4) add(first + byte, second + byte);
  };
  for (int d = 0; d < head.dim; d += 4) {
    add_four(head.key(0, d), head.key(1, d), head.key_type);
    if (head.key_type == q8 && d % scale_dims == 0) add(head.key_scale(0, d), head.key_scale(1, d));
  }
  if (head.keys_have_values) return;
  for (int d = 0; d < head.value_dim; d += 4) {
    add_four(head.value(0, d), head.value(1, d), head.value_type);
    if (head.value_type == q8 && d % scale_dims == 0) add(head.value_scale(0, d), head.value_scale(1, d));
  }
}

}  // namespace

CacheBlocks::CacheBlocks(const ModelSpec& spec, const KvTypes& kv, Device& device) : device_(device) {
  std::vector<MoveLine> lines;
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* a = layer.attention();
    const bool stores = a != nullptr && !a->kv_from;
    layers_.push_back({.pool = {},
                       .block_bytes = 0,
                       .layer = block_bytes_,
                       .kv_heads = stores ? a->kv_heads : 0,
                       .dim = stores ? a->head_dim : 0,
                       .types = kv,
                       .value_dim = stores && a->latent ? a->latent->rank : 0});
    for (std::size_t head = 0; head < layers_.back().kv_heads; ++head) {
      add_lines(layers_.back().head(), block_bytes_, lines);
      block_bytes_ += layers_.back().head_bytes();
    }
  }
  line_count_ = lines.size();
  lines_ = device.allocate(lines.size() * sizeof(MoveLine));
  state_ = device.upload({lines_.get()}, std::as_bytes(std::span(lines)));
}

CacheId CacheBlocks::open(const CacheSize& size) {
  if (bytes(size) > std::min(device_.info().bytes, device_.largest_piece())) throw std::bad_alloc();
  auto closed = std::ranges::find(caches_, false, &Cache::is_open);
  if (closed == caches_.end()) closed = caches_.insert(closed, Cache{});
  *closed = {.is_open = true, .context = size.context, .table = {}};
  closed->table.reserve(div_up(size.slots, slots));
  return static_cast<CacheId>(closed - caches_.begin());
}

void CacheBlocks::close(CacheId cache) {
  std::vector<int>& table = caches_[cache].table;
  const auto is_here = [&](PoolSlot slot) {
    return std::ranges::find(table, slot / chunk_slots) != table.end();
  };
  moves_.forget_from(is_here);
  free_.insert(free_.end(), table.begin(), table.end());  // add_blocks() has reserved the capacity
  caches_[cache] = {};
}

std::size_t CacheBlocks::bytes(const CacheSize& size) const {
  return div_up(size.slots, slots) * block_bytes_;
}

void CacheBlocks::grow(CacheId cache, std::int32_t slot) {
  std::vector<int>& table = caches_[cache].table;
  while (table.size() <= static_cast<std::size_t>(slot) / slots) {
    if (free_.empty()) add_blocks();
    table.push_back(free_.back());
    free_.pop_back();
  }
}

/// Grows the pool by half of its size, at least by four blocks; by half of the free memory if that is less,
/// so that few growths use what is left. Fails at once while there is no more free memory than at a growth
/// that got none of it, because replace_pool() copies the whole pool.
void CacheBlocks::add_blocks() {
  const std::size_t unit = std::max<std::size_t>(block_bytes_, 1), room = device_.info().free_bytes / unit,
                    most = device_.largest_piece() / unit;
  const bool is_lost = blocks_ > 0 && pool_ == nullptr;  // see replace_pool()
  if (is_lost || room <= useless_room_ || most <= blocks_) throw std::bad_alloc();
  std::size_t more = std::min(std::max<std::size_t>(blocks_ / 2, 4), most - blocks_);
  free_.reserve(blocks_ + more);
  if (blocks_ + more > room || !extend_pool(more)) {
    more = replace_pool(std::min(more, std::max<std::size_t>(room / 2, 1)));
    if (more == 0) {
      if (blocks_ > 0) useless_room_ = room;
      throw std::bad_alloc();
    }
  }
  for (std::size_t i = blocks_ + more; i > blocks_; --i) free_.push_back(static_cast<int>(i - 1));
  blocks_ += more;
}

/// Grows the pool by `more` blocks on the device. Returns false if it has no memory for both pools: free
/// memory can be in pieces.
bool CacheBlocks::extend_pool(std::size_t more) {
  std::unique_ptr<DeviceMemory> larger;
  try {
    larger = device_.allocate((blocks_ + more) * block_bytes_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (blocks_ > 0) note(device_.copy({larger.get()}, {pool_.get()}, blocks_ * block_bytes_));
  pool_ = std::move(larger);
  ++times_moved_;
  return true;
}

/// Grows the pool by at most `more` blocks where both pools do not fit: the host keeps the contents while the
/// old pool is freed. Returns the number of new blocks. Throws std::bad_alloc if there is no pool any more.
std::size_t CacheBlocks::replace_pool(std::size_t more) {
  std::vector<std::byte> kept(blocks_ * block_bytes_);
  if (blocks_ > 0) note(device_.download(kept, {pool_.get()}));
  pool_.reset();
  ++times_moved_;
  while (pool_ == nullptr) {
    try {
      pool_ = device_.allocate((blocks_ + more) * block_bytes_);
    } catch (const std::bad_alloc&) {
      if (more == 0) {
        if (blocks_ > 0) {
          note(error(ErrorCode::out_of_memory,
                     "{}: the memory of keys and values was taken by another program", device_.info().name));
        }
        throw;
      }
      more /= 2;
    }
  }
  if (blocks_ > 0) note(device_.upload({pool_.get()}, kept));
  return more;
}

void CacheBlocks::copy(const CacheCopy& copy) {
  if (blocks_ > 0 && pool_ == nullptr) throw std::bad_alloc();  // see replace_pool()
  note(moves_.make(device_, move()));
  const std::size_t blocks = div_up(copy.slots, slots);
  if (blocks > 0) grow(copy.to, static_cast<std::int32_t>(copy.slots - 1));
  const auto at = [&](CacheId cache, std::size_t block) {
    return Slice{pool_.get(), static_cast<std::size_t>(caches_[cache].table[block]) * block_bytes_};
  };
  std::vector<DeviceCopy> copies;
  for (std::size_t block = 0; block < blocks; ++block)
    copies.push_back({at(copy.to, block), at(copy.from, block), block_bytes_});
  note(device_.copy(copies));
}

PoolSlot CacheBlocks::slot_in_pool(CacheId cache, std::int32_t slot) const {
  const auto block = static_cast<std::size_t>(slot) / slots;
  SPECTR_CHECK(block < caches_[cache].table.size());
  return caches_[cache].table[block] * chunk_slots + slot % chunk_slots;
}

void CacheBlocks::add(const SlotMove& move) {
  moves_.add(slot_in_pool(move.cache, move.from), slot_in_pool(move.cache, move.to));
}

call::Cache CacheBlocks::of(std::size_t layer) const {
  call::Cache cache = layers_[layer];
  SPECTR_CHECK(cache.dim > 0);
  cache.pool = {pool_.get()};
  cache.block_bytes = block_bytes_;
  return cache;
}

call::Move CacheBlocks::move() const {
  return {.pool = {pool_.get()},
          .block_bytes = block_bytes_,
          .lines = {lines_.get()},
          .line_count = line_count_,
          .count = {},
          .moves = {}};
}

}  // namespace spectr
