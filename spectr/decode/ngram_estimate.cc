#include "spectr/decode/ngram_estimate.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/decode/text_match.h"

namespace spectr {
namespace {

// Least weight of what is new: the last dozen or so decide.
constexpr double fresh = 0.08;

}  // namespace

void NgramEstimate::see(std::span<const Token> text) {
  SPECTR_CHECK(!text.empty() && text.size() >= length_);
  if (length_ == 0) look_up(text);
  while (length_ < text.size()) {
    if (agree_ > 0) {
      Repeats& here = repeats_[agree_ - 1];
      const double alike = text[length_] == expected_ ? 1.0 : 0.0;
      // At first the mean of all, in which the guess counts as one.
      here.share += std::max(fresh, 1.0 / static_cast<double>(here.seen + 2)) * (alike - here.share);
      ++here.seen;
    }
    look_up(text.first(length_ + 1));
  }
}

void NgramEstimate::look_up(std::span<const Token> text) {
  const TextMatch match = match_end(text, longest);
  length_ = text.size();
  agree_ = match.length;
  if (agree_ > 0) expected_ = match.goes_on(0);
}

std::array<double, NgramEstimate::positions + 1> NgramEstimate::tokens() const {
  std::array<double, positions + 1> tokens = {1.0};
  double reached = agree_ > 0 ? 1.0 : 0.0;
  for (std::size_t i = 0; i < positions; ++i) {
    // Every draft that was accepted is one more token that agrees.
    if (reached > 0.0) reached *= repeats_[std::min(agree_ + i, longest) - 1].share;
    tokens[i + 1] = tokens[i] + reached;
  }
  return tokens;
}

}  // namespace spectr
