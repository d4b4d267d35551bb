#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// How logits become a distribution. The defaults are llama.cpp's.
struct WarpOptions {
  double temperature = 0.8;        ///< 0: the point mass on the largest logit
  std::size_t top_k = 40;          ///< keep the k largest; 0: off
  double top_p = 0.95;             ///< keep the smallest prefix of mass ≥ top_p; 1: off
  double min_p = 0.05;             ///< keep tokens at least min_p times as likely as the likeliest; 0: off
  double repeat_penalty = 1.0;     ///< divides positive and multiplies negative logits of recent tokens
  double presence_penalty = 0.0;   ///< subtracted from the logits of recent tokens
  double frequency_penalty = 0.0;  ///< the same, times the number of occurrences
  std::size_t repeat_last_n = 64;  ///< how many tokens are recent
  std::vector<std::pair<Token, double>> logit_bias = {};  ///< added to these logits; −∞ forbids a token

  /// The model's own distribution: temperature 1 and no filter.
  static WarpOptions none();
};

/// Turns a row of logits into the distribution that is sampled *and* verified; draft and target use the same
/// object.
///
/// In this order: logit bias, penalties, top-k, top-p, min-p, temperature. Ties go to the lower id.
class Warp {
 public:
  /// Error: an option outside its range, by name and value.
  static Result<Warp> make(WarpOptions options);

  const WarpOptions& options() const { return options_; }
  /// Whether the distribution depends on the text so far: whether a penalty is on.
  bool reads_history() const {
    return options_.repeat_penalty != 1.0 || options_.presence_penalty != 0.0 ||
           options_.frequency_penalty != 0.0;
  }

  /// Whether distributions are short lists: the temperature is 0, or a filter is on for so many logits.
  bool filters(std::size_t logits) const {
    return options_.temperature == 0.0 || cuts_to_k(logits) || options_.top_p < 1.0 || options_.min_p > 0.0;
  }

  /// The distribution after `history` (the text so far, for the penalties). It is dense when the temperature
  /// is positive and no filter is on, short otherwise. `vocabulary` is the V of the distribution: tokens
  /// beyond the row have probability 0. Requires: vocabulary ≥ logits.size(). Error: a NaN or +∞ logit, or
  /// nothing but −∞. Cost: O(V), and sorting of what is kept only.
  Result<Distribution> distribution(const Logits& logits, std::span<const Token> history,
                                    std::size_t vocabulary) const;

 private:
  explicit Warp(WarpOptions options) : options_(std::move(options)) {}
  bool cuts_to_k(std::size_t logits) const { return options_.top_k > 0 && options_.top_k < logits; }
  void penalise(std::span<double> logits, std::span<const Token> history) const;
  Result<Distribution> distribution_of(const Logits& logits, std::size_t vocabulary) const;

  WarpOptions options_;
};

}  // namespace spectr
