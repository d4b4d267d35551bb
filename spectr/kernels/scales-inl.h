// The scales of 16 rows from the headers of a panel, for any instruction set (see panel_kernel-inl.h).
#pragma once

#include "spectr/kernels/code_layout.h"

namespace spectr {

template <class Lanes>
HWY_INLINE typename Lanes::Floats times(typename Lanes::Floats factor, typename Lanes::Ints small) {
  return Lanes::multiply(factor, Lanes::to_float(small));
}

/// factor · (a scale of 6 bits − 32): four bits of `low` from low_shift on and two of `high`, shifted to
/// bit 4.
template <class Lanes, int low_shift, int high_shift>
HWY_INLINE typename Lanes::Floats times_six_bits(typename Lanes::Floats factor, typename Lanes::Ints low,
                                                 typename Lanes::Ints high) {
  const auto scale =
      Lanes::either(Lanes::template bits<low_shift, 15>(low), Lanes::template bits<high_shift, 48>(high));
  return times<Lanes>(factor, Lanes::add(scale, -32));
}

/// Scales and minima of all columns of a unit, for the rows lane … lane + lanes − 1. code_layout.cc says the
/// same for one row.
template <class Lanes, TensorType type>
HWY_INLINE void decode_scales(const std::uint8_t* header, std::size_t lane, typename Lanes::Floats* scales,
                              typename Lanes::Floats* mins) {
  using enum TensorType;
  constexpr CodeLayout layout = *code_layout(type);
  const std::uint8_t* const packed = header + 32 * layout.halves + lane;  // scale byte i at 16 · i
  const auto d = Lanes::halves(header + 2 * lane);
  if constexpr (layout.columns == 32) {
    scales[0] = d;
    if constexpr (layout.has_min) mins[0] = Lanes::negate(Lanes::halves(header + 32 + 2 * lane));
  } else if constexpr (type == q2_k) {
    const auto m = Lanes::halves(header + 32 + 2 * lane);
    for (int i = 0; i < 16; ++i) {
      const auto both = Lanes::bytes(packed + 16 * i);
      scales[i] = times<Lanes>(d, Lanes::template bits<0, 15>(both));
      mins[i] = times<Lanes>(m, Lanes::template bits<4, 15>(both));
    }
  } else if constexpr (type == q3_k) {
    for (int i = 0; i < 4; ++i) {
      const auto a = Lanes::bytes(packed + 16 * i);
      const auto b = Lanes::bytes(packed + 16 * (i + 4));
      const auto high = Lanes::bytes(packed + 16 * (i + 8));
      scales[i] = times_six_bits<Lanes, 0, -4>(d, a, high);
      scales[i + 4] = times_six_bits<Lanes, 0, -2>(d, b, high);
      scales[i + 8] = times_six_bits<Lanes, 4, 0>(d, a, high);
      scales[i + 12] = times_six_bits<Lanes, 4, 2>(d, b, high);
    }
  } else if constexpr (type == q4_k || type == q5_k) {
    const auto m = Lanes::halves(header + 32 + 2 * lane);
    for (int i = 0; i < 4; ++i) {
      const auto a = Lanes::bytes(packed + 16 * i);
      const auto b = Lanes::bytes(packed + 16 * (i + 4));
      const auto c = Lanes::bytes(packed + 16 * (i + 8));
      scales[i] = times<Lanes>(d, Lanes::template bits<0, 63>(a));
      mins[i] = times<Lanes>(m, Lanes::template bits<0, 63>(b));
      scales[i + 4] =
          times<Lanes>(d, Lanes::either(Lanes::template bits<0, 15>(c), Lanes::template bits<2, 48>(a)));
      mins[i + 4] =
          times<Lanes>(m, Lanes::either(Lanes::template bits<4, 15>(c), Lanes::template bits<2, 48>(b)));
    }
  } else if constexpr (type == q6_k) {
    for (int i = 0; i < 16; ++i) scales[i] = times<Lanes>(d, Lanes::signed_bytes(packed + 16 * i));
  } else if constexpr (type == iq4_xs) {
    for (int i = 0; i < 2; ++i) {
      const auto high = Lanes::bytes(packed + 16 * i);
      const auto a = Lanes::bytes(packed + 16 * (2 + 2 * i));
      const auto b = Lanes::bytes(packed + 16 * (3 + 2 * i));
      scales[4 * i] = times_six_bits<Lanes, 0, -4>(d, a, high);
      scales[4 * i + 1] = times_six_bits<Lanes, 4, -2>(d, a, high);
      scales[4 * i + 2] = times_six_bits<Lanes, 0, 0>(d, b, high);
      scales[4 * i + 3] = times_six_bits<Lanes, 4, 2>(d, b, high);
    }
  }
}

}  // namespace spectr
