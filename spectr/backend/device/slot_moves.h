#pragma once

#include <cstddef>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/calls.h"

namespace spectr {

/// Moves of slots' numbers that wait for the next pass that succeeds, in order.
class SlotMoves {
 public:
  /// Throws std::bad_alloc; then the move is not there.
  void add(PoolSlot from, PoolSlot to);
  /// Forgets those from places for which is_gone(place).
  template <class IsGone>
  void forget_from(IsGone is_gone) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all_.size(); i += 2) {
      if (is_gone(all_[i])) continue;
      all_[kept++] = all_[i];
      all_[kept++] = all_[i + 1];
    }
    all_.resize(kept);
  }
  void forget() { all_.clear(); }

  /// Pairs: from, to.
  const std::vector<PoolSlot>& all() const { return all_; }

  /// Makes all of them without a pass, by a call that lacks but them. Throws std::bad_alloc.
  Result<void> make(Device& device, call::Move move);

 private:
  std::vector<PoolSlot> all_;
};

}  // namespace spectr
