#include "spectr/backend/device/slot_moves.h"

#include <memory>
#include <span>

namespace spectr {

void SlotMoves::add(PoolSlot from, PoolSlot to) {
  // Reserve first, because it can throw: a move is added completely or not at all.
  if (all_.capacity() - all_.size() < 2) all_.reserve(2 * all_.size() + 16);
  all_.push_back(from);
  all_.push_back(to);
}

Result<void> SlotMoves::make(Device& device, call::Move move) {
  if (all_.empty()) return {};
  const int count = static_cast<int>(all_.size() / 2);
  const std::unique_ptr<DeviceMemory> memory = device.allocate(16 + std::span(all_).size_bytes());
  move.count = {memory.get()};
  move.moves = {memory.get(), 16};
  SPECTR_TRY_VOID(device.upload(move.count, std::as_bytes(std::span(&count, 1))));
  SPECTR_TRY_VOID(device.upload(move.moves, std::as_bytes(std::span(all_))));
  const call::AnyCall calls[] = {move};
  SPECTR_TRY_VOID(device.run(calls));
  forget();
  return {};
}

}  // namespace spectr
