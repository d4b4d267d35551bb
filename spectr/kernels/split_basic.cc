#include <algorithm>

#include "spectr/kernels/split.h"

namespace spectr::split {
namespace {

/// Bit j of four bytes is bit 4 of code j.
void fifth_bits(const std::uint8_t* file, CodeUnit& unit) {
  for (int j = 0; j < 32; ++j) {
    unit.codes[j] = static_cast<std::uint8_t>(unit.codes[j] | ((file[j / 8] >> (j % 8)) & 1) << 4);
  }
}

}  // namespace

void q8_0(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves[0] = half(file);
  std::copy_n(file + 2, 32, unit.codes.begin());
}

void q4_0(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves[0] = half(file);
  nibbles(file + 2, unit.codes.data());
}

void q4_1(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves = {half(file), half(file + 2)};
  nibbles(file + 4, unit.codes.data());
}

void q5_0(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves[0] = half(file);
  nibbles(file + 6, unit.codes.data());
  fifth_bits(file + 2, unit);
}

void q5_1(const std::uint8_t* file, CodeUnit& unit) {
  unit.halves = {half(file), half(file + 2)};
  nibbles(file + 8, unit.codes.data());
  fifth_bits(file + 4, unit);
}

}  // namespace spectr::split
