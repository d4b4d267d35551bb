#include <algorithm>

#include "spectr/kernels/split.h"

namespace spectr::split {

// File: d, 16 bytes of nibbles.
void iq4_nl(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves[0] = half(file);
  nibbles(file + 2, unit.codes.data());
}

// File: d, 2 bytes of high and 4 of low bits of scales, 8 times 16 bytes of nibbles.
void iq4_xs(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves[0] = half(file);
  std::copy_n(file + 2, 6, unit.scales.begin());
  for (int block = 0; block < 8; ++block) nibbles(file + 8 + 16 * block, &unit.codes[32 * block]);
}

}  // namespace spectr::split
