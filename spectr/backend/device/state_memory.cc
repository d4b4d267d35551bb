#include "spectr/backend/device/state_memory.h"

#include <algorithm>
#include <new>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

constexpr std::size_t place_numbers = 2;                    // unit of a StatePlace, in numbers
constexpr std::size_t largest_pool = std::size_t{1} << 32;  // numbers that a StatePlace can address
static_assert(state_grid == static_cast<std::size_t>(grid_tokens));

StatePlace place_of(std::size_t number) {
  return static_cast<StatePlace>(number / place_numbers);
}

/// Reserves `numbers` numbers at `end` and returns their offset.
std::size_t next(std::size_t& end, std::size_t numbers) {
  return std::exchange(end, end + round_up(numbers, 4));
}

}  // namespace

StateMemory::StateMemory(const ModelSpec& spec, Device& device) : device_(device) {
  for (const LayerSpec& layer : spec.layers) {
    call::States& of = layers_.emplace_back();
    std::size_t state = 0;
    if (const DeltaNetSpec* delta = layer.delta_net()) {
      of.channels = delta->channels();
      of.kernel = delta->kernel;
      state = delta->inner() * delta->head_dim;
      of.keys = next(token_numbers_, delta->key_heads * delta->head_dim);
      of.values = next(token_numbers_, delta->inner());
      of.decays = next(token_numbers_, delta->value_heads);
    } else if (const ShortConvolutionSpec* convolution = layer.short_convolution()) {
      of.channels = convolution->out.in;
      of.kernel = convolution->kernel;
    } else {
      continue;
    }
    of.inputs = next(token_numbers_, of.channels);
    of.frame_inputs = next(frame_numbers_, (of.kernel - 1) * of.channels);
    of.frame_state = next(frame_numbers_, state);
    state_numbers_ = std::max(state_numbers_, round_up(state, 4));
  }
  if (!is_used()) return;
  std::vector<MoveLine> lines;  // for state moves, a "slot" is a StatePlace
  for (std::size_t i = 0; i < token_numbers_; ++i)
    lines.push_back({static_cast<unsigned>(i), static_cast<unsigned>(place_numbers)});
  lines_ = device.allocate(lines.size() * sizeof(MoveLine));
  state_ = device.upload({lines_.get()}, std::as_bytes(std::span(lines)));
}

void StateMemory::open(CacheId cache, const CacheSize& size) {
  if (!is_used()) return;
  if (bytes(size) > std::min(device_.info().bytes, device_.largest_piece())) throw std::bad_alloc();
  caches_.resize(std::max<std::size_t>(caches_.size(), cache + 1));
  caches_[cache] = {.piece = take(numbers(size)), .recent = size.recent};
}

void StateMemory::close(CacheId cache) {
  if (!is_used()) return;
  const Piece piece = caches_[cache].piece;
  moves_.forget_from([&](PoolSlot place) {
    const std::size_t number = static_cast<std::size_t>(place) * place_numbers;
    return number >= piece.begin && number < piece.end();
  });
  caches_[cache] = {};
}

std::size_t StateMemory::bytes(const CacheSize& size) const {
  return numbers(size) * sizeof(float);
}

/// Returns the first sufficiently large gap in the pool; grows the pool if there is none.
StateMemory::Piece StateMemory::take(std::size_t size) {
  std::vector<Piece> taken = {scratch_};
  for (const Cache& cache : caches_) taken.push_back(cache.piece);
  std::ranges::sort(taken, {}, &Piece::begin);
  std::size_t begin = 0;
  for (const Piece& piece : taken) {
    if (piece.size == 0) continue;
    if (piece.begin - begin >= size) break;
    begin = piece.end();
  }
  if (begin + size > size_) grow(begin + size);
  return {begin, size};
}

/// Grows the pool to `needed` numbers, or by half of its size if that is more and there is memory for it.
void StateMemory::grow(std::size_t needed) {
  const std::size_t ample = std::max(needed, size_ + size_ / 2);
  try {
    resize(ample);
  } catch (const std::bad_alloc&) {
    if (ample == needed) throw;
    resize(needed);
  }
}

void StateMemory::resize(std::size_t size) {
  const std::size_t bytes = size * sizeof(float);
  if (size > largest_pool || bytes > device_.largest_piece()) throw std::bad_alloc();
  std::unique_ptr<DeviceMemory> larger = device_.allocate(bytes);
  if (size_ > 0) note(device_.copy({larger.get()}, at(0), size_ * sizeof(float)));
  pool_ = std::move(larger);
  size_ = size;
  ++times_moved_;
}

void StateMemory::take_scratch(std::size_t states) {
  if (states * state_numbers_ <= scratch_.size) return;
  const Piece before = std::exchange(scratch_, {});
  try {
    scratch_ = take(states * state_numbers_);
  } catch (const std::bad_alloc&) {
    scratch_ = before;
    throw;
  }
}

void StateMemory::copy(const CacheCopy& copy) {
  if (!is_used()) return;
  note(moves_.make(device_, move()));
  const Cache &from = caches_[copy.from], &to = caches_[copy.to];
  const auto take_over = [&](std::size_t first, std::size_t count) {
    if (count == 0) return;
    note(device_.copy(at(to.piece.begin + first), at(from.piece.begin + first), count * sizeof(float)));
  };
  take_over(0, std::min(copy.slots, from.recent) * token_numbers_);
  for (const std::int32_t frame : copy.frames) {
    take_over(from.recent * token_numbers_ + static_cast<std::size_t>(frame) * frame_numbers_,
              frame_numbers_);
  }
}

StatePlace StateMemory::token(CacheId cache, std::size_t slot) const {
  const Cache& of = caches_[cache];
  return place_of(of.piece.begin + slot % of.recent * token_numbers_);
}

StatePlace StateMemory::frame(CacheId cache, std::size_t frame) const {
  const Cache& of = caches_[cache];
  return place_of(of.piece.begin + of.recent * token_numbers_ + frame * frame_numbers_);
}

StatePlace StateMemory::scratch(std::size_t state) const {
  SPECTR_CHECK((state + 1) * state_numbers_ <= scratch_.size);
  return place_of(scratch_.begin + state * state_numbers_);
}

call::States StateMemory::of(std::size_t layer) const {
  call::States states = layers_[layer];
  SPECTR_CHECK(states.channels > 0);
  states.pool = {pool_.get()};
  return states;
}

void StateMemory::add(const SlotMove& move) {
  if (!is_used()) return;
  moves_.add(token(move.cache, static_cast<std::size_t>(move.from)),
             token(move.cache, static_cast<std::size_t>(move.to)));
}

call::Move StateMemory::move() const {
  return {.pool = {pool_.get()},
          .block_bytes = chunk_slots * place_numbers * sizeof(float),
          .lines = {lines_.get()},
          .line_count = token_numbers_,
          .count = {},
          .moves = {}};
}

}  // namespace spectr
