#pragma once

#include <algorithm>
#include <cstddef>

#include "spectr/decode/way.h"

namespace spectr {

/// What a block may stake on its drafts, so that no text takes much longer than by plain decoding.
///
/// Theorem. By the costs, and what is read of the text to draft apart, a text that goes on to its limit of n
/// tokens takes no longer than max(1.03 n, n + 5/4) plain tokens and what is forgiven, which is at most as
/// much again, whatever becomes of its drafts. *Why:* a block loses most where none of its drafts is
/// accepted and no two of its sequences begin alike; so much is at most 3/10 of what may still be lost.
///
/// Not all of it, because first tries that lose everything leave nothing for later ones: a good draft model
/// misses, too. For the same reason losses are forgiven where something speaks for the drafts. That does not
/// make stakes larger: a few contexts do not tell how long drafts should be.
class LossLimit {
 public:
  /// Seconds that the next block may take longer than a plain one, with `left` tokens to write.
  double stake(const Way& plain, std::size_t left) const {
    const double most = std::max(share * static_cast<double>(written_ + left), least) * plain.seconds;
    const double lost = lost_ > 0.0 ? std::max(lost_ - std::min(forgiven_, most), 0.0) : lost_;
    return staked * (most - lost);
  }

  /// Losses up to so many seconds do not count; of several such numbers the largest holds.
  void forgive(double seconds) { forgiven_ = std::max(forgiven_, seconds); }

  /// A block took so long and brought so many tokens.
  void count(double seconds, std::size_t tokens, const Way& plain) {
    written_ += tokens;
    lost_ += seconds - static_cast<double>(tokens) * plain.seconds;
  }

 private:
  static constexpr double share = 0.03;  // of a text that may be lost,
  static constexpr double least = 1.25;  // or so many plain tokens
  static constexpr double staked = 0.3;  // of that, by one block

  std::size_t written_ = 0;
  double lost_ = 0.0;  // seconds; below 0: won
  double forgiven_ = 0.0;
};

}  // namespace spectr
