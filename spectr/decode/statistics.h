#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/decode/block.h"
#include "spectr/decode/decoder.h"

namespace spectr {

/// The counters of a run, defined once for every report:
///   blocks     iterations: a draft and its verification
///   drafted    draft tokens as drawn, counting copies (K draft sequences of L tokens: K·L per block)
///   accepted   emitted tokens whose source is a draft
///   generated  emitted tokens
///   target_calls  passes of the target, excluding the prompt's
class Statistics {
 public:
  /// Counts a block of which only the first `kept` tokens were emitted (a stop word can truncate it).
  void count(const Block& block, std::size_t kept);
  /// Adds the counts and seconds of another run.
  void add(const Statistics& other);

  std::size_t blocks() const { return blocks_; }
  std::size_t generated() const { return generated_; }
  std::size_t target_calls() const { return target_calls_; }
  std::size_t drafted() const { return drafted_; }
  std::size_t accepted() const { return accepted_; }
  /// Returns tokens per target call; 0 before the first call.
  double block_efficiency() const;
  /// Returns accepted / drafted; 0 if nothing was drafted.
  double acceptance_rate() const;
  /// Returns, for every drafted position i, the share of blocks whose i-th token was an accepted draft.
  std::vector<double> acceptance_per_position() const;
  /// Returns a histogram: element i is the number of blocks that accepted i drafts.
  std::vector<std::size_t> acceptance_histogram() const;
  /// Returns the mean TV distance per token between the distribution that it was drawn from and the target's;
  /// nullopt if it is unknown for a block.
  std::optional<double> bias_tv() const;
  /// Returns the mean probability per token that a test rejects, 0 for tokens that were not tested; nullopt
  /// if no biased plan tested any. With bias_tv() it is the trade-off between rejection and bias (Yin et al.,
  /// section 4).
  std::optional<double> rejection() const;
  /// Returns exp of the mean negative log-likelihood of the tokens under the unfiltered target.
  double perplexity() const;

  double prompt_seconds = 0.0;
  double total_seconds = 0.0;  ///< including the prompt
  StageSeconds stages;
  /// Returns generated tokens per second after the prompt.
  double tokens_per_second() const;

 private:
  std::size_t blocks_ = 0;
  std::size_t generated_ = 0;
  std::size_t target_calls_ = 0;
  std::size_t drafted_ = 0;
  std::size_t accepted_ = 0;
  RecycledVector<std::size_t> accepted_at_;
  double negative_log_likelihood_ = 0.0;
  std::optional<double> bias_ = 0.0;
  std::optional<double> rejection_;
};

}  // namespace spectr
