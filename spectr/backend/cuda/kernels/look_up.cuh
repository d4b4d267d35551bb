#pragma once

#include "spectr/backend/cuda/kernels/device.h"

namespace spectr::cuda {

/// Looks up four numbers of `bits` bits each, at most 4, in a table of bytes.
template <int bits>
SPECTR_DEVICE u32 look_up(const u32 (&table)[4], u32 numbers) {
  const u32 each = pick_bytes(numbers | numbers >> 4, 0, 0x4420);  // a nibble for each
  if constexpr (bits < 4) return pick_bytes(table[0], table[1], each);
  const u32 low = pick_bytes(table[0], table[1], each & 0x7777),
            high = pick_bytes(table[2], table[3], each & 0x7777);
  return pick_bytes(low, high, 0x3210u | (each & 0x8888) >> 1);
}

}  // namespace spectr::cuda
