#pragma once

#include <cstddef>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/calls.h"

namespace spectr {

/// Slot moves that are pending for the next successful pass, in order.
class SlotMoves {
 public:
  /// Throws std::bad_alloc, without effect.
  void add(PoolSlot from, PoolSlot to);
  /// Drops all moves whose source satisfies is_gone(slot).
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

  /// Returns pairs (from, to).
  const std::vector<PoolSlot>& all() const { return all_; }

  /// Executes and drops all moves outside of a pass; `move` lacks only its list. Throws std::bad_alloc.
  Result<void> make(Device& device, call::Move move);

 private:
  std::vector<PoolSlot> all_;
};

}  // namespace spectr
