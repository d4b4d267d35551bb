#include "spectr/decode/text_match.h"

#include <algorithm>

#include "spectr/base/check.h"

namespace spectr {

TextMatch match_end(std::span<const Token> text, std::size_t most) {
  SPECTR_CHECK(!text.empty() && most >= 1);
  TextMatch best;
  for (std::size_t end = text.size() - 1; end > 0 && best.length < most; --end) {
    if (text[end - 1] != text.back()) continue;
    const auto earlier = text.first(end);
    const auto differ = std::ranges::mismatch(earlier.rbegin(), earlier.rend(), text.rbegin(), text.rend());
    const auto agree = static_cast<std::size_t>(differ.in1 - earlier.rbegin());
    if (std::min(agree, most) > best.length) best = {std::min(agree, most), text.subspan(end)};
  }
  return best;
}

}  // namespace spectr
