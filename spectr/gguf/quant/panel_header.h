// Decoding of the scales of several rows of a matrix at once. Kernels keep quantized matrices as panels of 16
// rows; `Lanes` is an instruction set whose vectors hold `lanes` of these rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spectr::quant {

template <class Lanes>
using Floats = typename Lanes::Floats;

/// The header of a super-block of a panel: each 16-bit factor and then each scale byte, for the 16 rows side
/// by side. It is read as vectors of rows, starting at `lane`.
template <class Lanes>
class PanelHeader {
 public:
  [[gnu::always_inline]] PanelHeader(const std::uint8_t* header, std::size_t lane, int f16s)
      : header_(header), scales_(header + at(32, f16s) + lane), lane_(lane) {}

  [[gnu::always_inline]] Floats<Lanes> f16s(int i) const {
    return Lanes::f16s(header_ + at(32, i) + 2 * lane_);
  }
  [[gnu::always_inline]] typename Lanes::Ints bytes(int i) const { return Lanes::bytes(scales_ + at(16, i)); }
  [[gnu::always_inline]] typename Lanes::Ints signed_bytes(int i) const {
    return Lanes::signed_bytes(scales_ + at(16, i));
  }

 private:
  [[gnu::always_inline]] static constexpr std::size_t at(std::size_t bytes, int i) {
    return bytes * static_cast<std::size_t>(i);
  }

  const std::uint8_t* header_;
  const std::uint8_t* scales_;
  std::size_t lane_;
};

/// Returns factor · small.
template <class Lanes>
[[gnu::always_inline]] inline Floats<Lanes> times(Floats<Lanes> factor, typename Lanes::Ints small) {
  return Lanes::multiply(factor, Lanes::to_float(small));
}

/// Returns factor · (2 · v + 1), where v are the four bits of `b` from bit `from` on.
template <class Lanes, int from>
[[gnu::always_inline]] inline Floats<Lanes> times_odd(Floats<Lanes> factor, typename Lanes::Ints b) {
  return times<Lanes>(factor, Lanes::add(Lanes::template bits<from - 1, 30>(b), 1));
}

/// Returns factor · (s − 32), where the 6-bit scale s has four bits of `low`, from low_shift on, and two of
/// `high`, shifted to bit 4.
template <class Lanes, int low_shift, int high_shift>
[[gnu::always_inline]] inline Floats<Lanes> times_six_bits(Floats<Lanes> factor, typename Lanes::Ints low,
                                                           typename Lanes::Ints high) {
  const auto scale =
      Lanes::either(Lanes::template bits<low_shift, 15>(low), Lanes::template bits<high_shift, 48>(high));
  return times<Lanes>(factor, Lanes::add(scale, -32));
}

}  // namespace spectr::quant
