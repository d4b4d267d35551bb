#include "spectr/decode/ngram.h"

#include <optional>

#include "spectr/base/check.h"

namespace spectr {
namespace {

// The initial share of matches with the same continuation, and the minimum weight of a new match: the last
// dozen or so dominate.
constexpr double initial_share = 0.3, min_weight = 0.08;

}  // namespace

NgramMatch match_end(std::span<const Token> sequence, std::size_t max_length) {
  SPECTR_CHECK(!sequence.empty() && max_length >= 1);
  NgramMatch best;
  for (std::size_t end = sequence.size() - 1; end > 0 && best.length < max_length; --end) {
    if (sequence[end - 1] != sequence.back()) continue;
    const auto earlier = sequence.first(end);
    const auto differ =
        std::ranges::mismatch(earlier.rbegin(), earlier.rend(), sequence.rbegin(), sequence.rend());
    const auto agree = static_cast<std::size_t>(differ.in1 - earlier.rbegin());
    if (std::min(agree, max_length) > best.length)
      best = {std::min(agree, max_length), sequence.subspan(end)};
  }
  return best;
}

Result<void> NgramDrafter::propose(const BlockStart& start, Models& models, Choices&, Draft& draft) {
  const NgramMatch match = match_end(start.sequence, order_);
  if (match.length == 0) return {};
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < std::min(length_, start.left); ++i) {
    const Token token = match.continuation(i);
    last = draft.add(last, token, draft.own(Distribution::point(token, models.vocabulary())));
    if (start.is_end(token)) break;
  }
  return {};
}

NgramEstimate::NgramEstimate() {
  repeats_.fill({.share = initial_share});
}

void NgramEstimate::see(std::span<const Token> sequence) {
  SPECTR_CHECK(!sequence.empty() && sequence.size() >= length_);
  if (length_ == 0) look_up(sequence);
  while (length_ < sequence.size()) {
    if (match_length_ > 0) {
      Repeats& here = repeats_[match_length_ - 1];
      const double alike = sequence[length_] == expected_ ? 1.0 : 0.0;
      // Initially this is the mean of all observations, with the guess counted as one.
      here.share += std::max(min_weight, 1.0 / static_cast<double>(here.seen + 2)) * (alike - here.share);
      ++here.seen;
    }
    look_up(sequence.first(length_ + 1));
  }
}

void NgramEstimate::look_up(std::span<const Token> sequence) {
  const NgramMatch match = match_end(sequence, max_order);
  length_ = sequence.size();
  match_length_ = match.length;
  if (match_length_ > 0) expected_ = match.continuation(0);
}

std::array<double, NgramEstimate::max_length + 1> NgramEstimate::tokens() const {
  std::array<double, max_length + 1> tokens = {1.0};
  double reached = match_length_ > 0 ? 1.0 : 0.0;
  for (std::size_t i = 0; i < max_length; ++i) {
    // Every accepted draft is one more matching token.
    if (reached > 0.0) reached *= repeats_[std::min(match_length_ + i, max_order) - 1].share;
    tokens[i + 1] = tokens[i] + reached;
  }
  return tokens;
}

}  // namespace spectr
