#include "spectr/backend/device/cache_blocks.h"

#include <algorithm>
#include <new>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

constexpr auto slots = static_cast<std::size_t>(chunk_slots);

}  // namespace

CacheBlocks::CacheBlocks(const ModelSpec& spec, const KvTypes& kv, Device& device)
    : device_(device), type_(kv.keys) {
  SPECTR_CHECK(kv.keys == kv.values);
  std::vector<MoveLine> lines;
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* a = layer.attention();
    const bool stores = a != nullptr && !a->kv_from;
    layers_.push_back({.pool = {},
                       .block_bytes = 0,
                       .layer = block_bytes_,
                       .kv_heads = stores ? a->kv_heads : 0,
                       .dim = stores ? a->head_dim : 0,
                       .type = type_});
    for (std::size_t head = 0; head < layers_.back().kv_heads; ++head) {
      const auto at = static_cast<unsigned>(block_bytes_ / call::number_bytes(type_));
      const auto dim = static_cast<unsigned>(a->head_dim);
      for (unsigned d = 0; d < dim; d += 4) {
        lines.push_back({at + d * 64, 4});          // of a key
        lines.push_back({at + 64 * dim + d, dim});  // of a value
      }
      block_bytes_ += layers_.back().head_bytes();
    }
  }
  block_bytes_ = round_up(block_bytes_, 16);
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
  std::size_t kept = 0;
  for (std::size_t i = 0; i < moves_.size(); i += 2) {
    if (is_here(moves_[i])) continue;
    moves_[kept++] = moves_[i];
    moves_[kept++] = moves_[i + 1];
  }
  moves_.resize(kept);
  free_.insert(free_.end(), table.begin(), table.end());  // there was room for all of them
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

/// The pool becomes larger by a half, or at least by one block.
void CacheBlocks::add_blocks() {
  std::size_t more = std::max<std::size_t>(blocks_ / 2, 4);
  std::unique_ptr<DeviceMemory> larger;
  while (larger == nullptr) {
    try {
      const std::size_t bytes = (blocks_ + more) * block_bytes_;
      if (bytes > device_.largest_piece()) throw std::bad_alloc();
      larger = device_.allocate(bytes);
    } catch (const std::bad_alloc&) {
      if (more == 1) throw;
      more = 1;
    }
  }
  free_.reserve(blocks_ + more);
  if (blocks_ > 0) note(device_.copy({larger.get()}, {pool_.get()}, blocks_ * block_bytes_));
  for (std::size_t i = blocks_ + more; i > blocks_; --i) free_.push_back(static_cast<int>(i - 1));
  pool_ = std::move(larger);
  blocks_ += more;
  ++times_moved_;
}

void CacheBlocks::copy(const CacheCopy& copy) {
  make_moves();
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

/// Makes the moves that wait for a pass without one.
void CacheBlocks::make_moves() {
  if (moves_.empty()) return;
  const int count = static_cast<int>(moves_.size() / 2);
  const std::unique_ptr<DeviceMemory> memory = device_.allocate(16 + std::span(moves_).size_bytes());
  call::Move made = move();
  made.count = {memory.get()};
  made.moves = {memory.get(), 16};
  note(device_.upload(made.count, std::as_bytes(std::span(&count, 1))));
  note(device_.upload(made.moves, std::as_bytes(std::span(moves_))));
  const call::AnyCall calls[] = {made};
  note(device_.run(calls));
  moves_.clear();
}

PoolSlot CacheBlocks::slot_in_pool(CacheId cache, std::int32_t slot) const {
  const auto block = static_cast<std::size_t>(slot) / slots;
  SPECTR_CHECK(block < caches_[cache].table.size());
  return caches_[cache].table[block] * chunk_slots + slot % chunk_slots;
}

void CacheBlocks::add(const SlotMove& move) {
  // First what may throw: a move is noted whole or not at all.
  if (moves_.capacity() - moves_.size() < 2) moves_.reserve(2 * moves_.size() + 16);
  moves_.push_back(slot_in_pool(move.cache, move.from));
  moves_.push_back(slot_in_pool(move.cache, move.to));
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
          .number_bytes = call::number_bytes(type_),
          .lines = {lines_.get()},
          .line_count = line_count_,
          .count = {},
          .moves = {}};
}

}  // namespace spectr
