#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/slot_moves.h"
#include "spectr/backend/device/state_rows.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The memory of recurrent layers for all sequences: one pool on the device, of which each cache has a piece.
/// A piece consists of tokens, a ring of the latest slots (CacheSize::recent) with the numbers of all layers,
/// and of frames. StateFrames manages which of them are valid.
///
/// Kernel calls locate a token or a frame by its StatePlace, which passes upload, and a layer's numbers by a
/// fixed offset from there (call::States).
class StateMemory {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  StateMemory(const ModelSpec& spec, Device& device);

  /// Returns true if the model has recurrent layers.
  bool is_used() const { return token_numbers_ > 0; }

  /// Allocates the cache's memory. Throws std::bad_alloc; the cache is then not open.
  void open(CacheId cache, const CacheSize& size);
  /// Closes a cache and drops pending moves within it.
  void close(CacheId cache);
  std::size_t bytes(const CacheSize& size) const;
  /// See Ops::copy_cache. Executes pending moves first. Throws std::bad_alloc.
  void copy(const CacheCopy& copy);
  /// Reserves scratch memory for states that are computed but not kept. Throws std::bad_alloc.
  void take_scratch(std::size_t states);
  /// Returns how often the pool was reallocated.
  std::size_t times_moved() const { return times_moved_; }

  StatePlace token(CacheId cache, std::size_t slot) const;
  StatePlace frame(CacheId cache, std::size_t frame) const;
  StatePlace scratch(std::size_t state) const;
  /// Requires: the layer is recurrent.
  call::States of(std::size_t layer) const;

  /// Adds a move to those pending for the next successful pass.
  void add(const SlotMove& move);
  /// Returns all pending moves as pairs (from, to), in order.
  const std::vector<PoolSlot>& moves() const { return moves_.all(); }
  void forget_moves() { moves_.forget(); }
  /// Returns a move call without its list of moves. Requires: is_used().
  call::Move move() const;

  /// Returns the first error of the device.
  const Result<void>& state() const { return state_; }

 private:
  /// A range of the pool, in numbers.
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
  void grow(std::size_t needed);
  void resize(std::size_t size);
  Slice at(std::size_t number) const { return {pool_.get(), number * sizeof(float)}; }
  void note(const Result<void>& done) {
    if (state_ && !done) state_ = done;
  }

  Device& device_;
  std::vector<call::States> layers_;
  std::size_t token_numbers_ = 0, frame_numbers_ = 0;  // over all layers
  std::size_t state_numbers_ = 0;                      // maximum over layers
  std::unique_ptr<DeviceMemory> lines_, pool_;
  std::size_t size_ = 0, times_moved_ = 0;  // of the pool
  std::vector<Cache> caches_;               // closed ones have empty pieces
  Piece scratch_;
  SlotMoves moves_;
  Result<void> state_;
};

}  // namespace spectr
