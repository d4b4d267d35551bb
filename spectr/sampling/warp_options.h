#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/sampling/dry.h"
#include "spectr/sampling/sampler.h"

namespace spectr {

/// Options for turning logits into a distribution. The defaults are llama.cpp's.
struct WarpOptions {
  double temperature = 0.8;        ///< 0: a point mass on the largest logit
  std::size_t top_k = 40;          ///< keep the k largest; 0: off
  double top_p = 0.95;             ///< keep the smallest prefix of mass ≥ top_p; 1: off
  double min_p = 0.05;             ///< keep tokens at least min_p times as likely as the likeliest; 0: off
  double repeat_penalty = 1.0;     ///< divides positive and multiplies negative logits of recent tokens
  double presence_penalty = 0.0;   ///< subtracted from the logits of recent tokens
  double frequency_penalty = 0.0;  ///< subtracted once per occurrence of a recent token
  std::size_t repeat_last_n = 64;  ///< number of tokens that count as recent
  std::vector<std::pair<Token, double>> logit_bias = {};  ///< added to these logits; −∞ forbids a token
  /// Keep logits within this many standard deviations of the largest; 0 or less: off.
  double top_n_sigma = -1.0;
  /// Keep the tokens whose surprise is nearest to the entropy, up to a mass above typical_p; 1: off.
  double typical_p = 1.0;
  double xtc_probability = 0.0;  ///< probability of excluding all top choices but the last; 0: off
  double xtc_threshold = 0.1;    ///< minimum probability of a top choice; above 0.5: off
  /// The temperature varies within temperature ± dynatemp_range with the entropy; 0: constant.
  double dynatemp_range = 0.0;
  double dynatemp_exponent = 1.0;  ///< exponent of the entropy, relative to its maximum
  DryOptions dry = {};
  int mirostat = 0;               ///< version 1 or 2, which replaces all samplers but temperature; 0: off
  double mirostat_tau = 5.0;      ///< target surprise in bits
  double mirostat_eta = 0.1;      ///< learning rate
  double adaptive_target = -1.0;  ///< prefer tokens of about this probability; below 0: off
  double adaptive_decay = 0.9;    ///< decay of the probabilities of earlier choices
  std::vector<Sampler> samplers = {};  ///< order; omitted samplers are off; empty: the default order

  /// Returns the options of the model's own distribution: temperature 1 and no filter.
  static WarpOptions none();

  bool has_penalties() const {
    return repeat_penalty != 1.0 || presence_penalty != 0.0 || frequency_penalty != 0.0;
  }
  /// Returns true if top choices can be excluded.
  bool has_xtc() const { return xtc_probability > 0.0 && xtc_threshold <= 0.5; }
};

/// Returns the options with every sampler off that is not applied: not in `samplers`, or replaced by
/// mirostat. Fails if an option is out of range, naming it and its value.
Result<WarpOptions> checked_options(WarpOptions options);

/// Returns the samplers that change a distribution, in the order of application, without adaptive_p.
RecycledVector<Sampler> active_samplers(const WarpOptions& options);

}  // namespace spectr
