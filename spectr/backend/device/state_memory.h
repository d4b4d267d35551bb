#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/slot_moves.h"
#include "spectr/backend/device/state_rows.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// What recurrent layers keep of all sequences: one pool on the device, of which each cache has a piece. In
/// it are tokens, of the latest slots (CacheSize::recent) as a ring, with the numbers of all layers, and
/// frames. Which of them are there is StateFrames' business.
///
/// Kernel calls find a token or a frame by its place in the pool, which passes send, and a layer's numbers at
/// a fixed distance from there (call::States).
class StateMemory {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  StateMemory(const ModelSpec& spec, Device& device);

  /// Whether there are recurrent layers.
  bool is_used() const { return token_numbers_ > 0; }

  /// Takes the cache's memory. Throws std::bad_alloc; then it is not open.
  void open(CacheId cache, const CacheSize& size);
  /// Forgets the moves in it, too.
  void close(CacheId cache);
  std::size_t bytes(const CacheSize& size) const;
  /// See Ops::copy_cache; the moves that wait for a pass come first. Throws std::bad_alloc.
  void copy(const CacheCopy& copy);
  /// Lets states that are not kept have memory while a layer is computed. Throws std::bad_alloc.
  void take_scratch(std::size_t states);
  /// How often the pool has come to lie elsewhere.
  std::size_t times_moved() const { return times_moved_; }

  StatePlace token(CacheId cache, std::size_t slot) const;
  StatePlace frame(CacheId cache, std::size_t frame) const;
  StatePlace scratch(std::size_t state) const;
  /// Requires: the layer is a recurrent one.
  call::States of(std::size_t layer) const;

  /// Notes a move for the next pass that succeeds.
  void add(const SlotMove& move);
  /// All of them, in order.
  const std::vector<PoolSlot>& moves() const { return moves_.all(); }
  void forget_moves() { moves_.forget(); }
  /// What moves do, but for where they are said. Requires: is_used().
  call::Move move() const;

  /// The first error of the device.
  const Result<void>& state() const { return state_; }

 private:
  /// A part of the pool, in numbers.
  struct Piece {
    std::size_t begin = 0, size = 0;
    std::size_t end() const { return begin + size; }
  };
  struct Cache {
    Piece piece;
    std::size_t recent = 0;
  };
  std::size_t numbers(const CacheSize& size) const {
    return size.recent * token_numbers_ + size.frames * frame_numbers_;
  }
  Piece take(std::size_t size);
  void grow(std::size_t size);
  Slice at(std::size_t number) const { return {pool_.get(), number * sizeof(float)}; }
  void note(const Result<void>& done) {
    if (state_ && !done) state_ = done;
  }

  Device& device_;
  std::vector<call::States> layers_;
  std::size_t token_numbers_ = 0, frame_numbers_ = 0;  // of all layers
  std::size_t state_numbers_ = 0;                      // of the layer that has most of them
  std::unique_ptr<DeviceMemory> lines_, pool_;
  std::size_t size_ = 0, times_moved_ = 0;  // of the pool
  std::vector<Cache> caches_;               // those that are not open have nothing
  Piece scratch_;
  SlotMoves moves_;
  Result<void> state_;
};

}  // namespace spectr
