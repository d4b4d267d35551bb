#pragma once

#include <algorithm>
#include <cstddef>

#include "spectr/decode/costs.h"
#include "spectr/decode/loss_limit.h"
#include "spectr/decode/ngram_estimate.h"
#include "spectr/decode/way.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// Whether `way` promises more than the best one so far. Estimates are not exact, and the best of many tends
/// to be one that is too high: drafting has to promise so much more than plain decoding.
bool beats(const Way& way, const Way& best);

/// No block brings more tokens than are left.
inline double at_most(double tokens, std::size_t left) {
  return std::min(tokens, static_cast<double>(left));
}

/// How much of the vocabulary laws have.
enum class Support {
  whole,
  cut,    ///< short, by filters
  point,  ///< one token: all drafts of a node are alike
};

/// Of the laws that a warp makes.
Support support_of(const Warp& warp, std::size_t vocabulary);

/// What the ways to make a block promise that take nothing but the target:
///
///   tokens / (target pass of 1 + nodes rows + laws and plans).
class Prospects {
 public:
  /// Counts on a text of `text` tokens, in steps, with `left` tokens to write. Requires: costs that live as
  /// long.
  Prospects(const Costs& costs, Support support, std::size_t text, std::size_t left, const LossLimit& limit)
      : costs_(costs),
        support_(support),
        text_(text / text_step * text_step),
        stake_(limit.stake(plain(), left)) {}

  Way plain() const;
  /// Seconds that the block may take longer than a plain one.
  double stake() const { return stake_; }
  /// Whether it may take so long.
  bool affords(double seconds) const { return seconds - plain().seconds <= stake_; }
  /// Drafts from the text where they promise more than `best`, else that.
  Way best_by_text(const NgramEstimate& text, std::size_t left, Way best) const;

  /// The target's pass over so many nodes, a law for every token and, where laws are dense, a plan that takes
  /// so long for every token but the bonus.
  double check_seconds(double nodes, std::size_t length, double tokens, double plan) const;

  const Costs& costs() const { return costs_; }
  bool dense() const { return support_ == Support::whole; }
  /// Whether several sequences may be different.
  bool sequences_differ() const { return support_ != Support::point; }
  /// Of one law, and a token drawn from it.
  double law_seconds() const { return dense() ? costs_.select.law : costs_.select.filtered; }
  /// The length of the text that passes are taken to attend to.
  std::size_t text() const { return text_; }

 private:
  static constexpr std::size_t text_step = 64;  // so seldom what passes cost is reckoned anew

  const Costs& costs_;
  Support support_;
  std::size_t text_;
  double stake_;
};

}  // namespace spectr
