#include "spectr/backend/cpu/kernels/float_lines.h"

#include <algorithm>

namespace spectr {

namespace {

template <std::size_t together>
float* arrange_shares(Span2d<const float> x, std::size_t bulk, float* out) {
  for (std::size_t share = 0; share < FloatLines::sums; share += together) {
    for (std::size_t j = share; j < bulk; j += FloatLines::sums) {
      for (std::size_t r = 0; r < x.rows(); ++r, out += together)
        std::copy_n(x.data() + r * x.cols() + j, together, out);
    }
  }
  return out;
}

}  // namespace

void arrange(Span2d<const float> x, const FloatLines& lines, float* out) {
  const std::size_t bulk = x.cols() / FloatLines::sums * FloatLines::sums;
  // With constant sizes, copies are inlined.
  switch (lines.together) {
    case 4:
      out = arrange_shares<4>(x, bulk, out);
      break;
    case 8:
      out = arrange_shares<8>(x, bulk, out);
      break;
    default:
      out = arrange_shares<16>(x, bulk, out);
  }
  for (std::size_t r = 0; r < lines.rows; ++r)
    out = std::copy(x[r].begin() + static_cast<std::ptrdiff_t>(bulk), x[r].end(), out);
}

}  // namespace spectr
