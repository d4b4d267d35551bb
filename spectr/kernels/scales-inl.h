// The scales of 16 rows from the headers of a panel, for any instruction set (see panel_kernel-inl.h).
#pragma once

#include "spectr/kernels/code_layout.h"

namespace spectr {

template <class Lanes>
HWY_INLINE typename Lanes::Floats times(typename Lanes::Floats factor, typename Lanes::Ints small) {
  return Lanes::multiply(factor, Lanes::to_float(small));
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
      scales[i] = times<Lanes>(
          d,
          Lanes::add(Lanes::either(Lanes::template bits<0, 15>(a), Lanes::template bits<-4, 48>(high)), -32));
      scales[i + 4] = times<Lanes>(
          d,
          Lanes::add(Lanes::either(Lanes::template bits<0, 15>(b), Lanes::template bits<-2, 48>(high)), -32));
      scales[i + 8] = times<Lanes>(
          d,
          Lanes::add(Lanes::either(Lanes::template bits<4, 15>(a), Lanes::template bits<0, 48>(high)), -32));
      scales[i + 12] = times<Lanes>(
          d,
          Lanes::add(Lanes::either(Lanes::template bits<4, 15>(b), Lanes::template bits<2, 48>(high)), -32));
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
  }
}

}  // namespace spectr
