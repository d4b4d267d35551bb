#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/decode/block.h"
#include "spectr/decode/decoder.h"

namespace spectr {

/// What a run counted. One definition for every report:
///   blocks     iterations: a draft, what the target made of it
///   drafted    draft tokens as drawn, with multiplicity (K draft sequences of L tokens: K·L a block)
///   accepted   emitted tokens whose source is a draft
///   generated  emitted tokens
///   target_calls  passes of the target, the prompt's not among them
class Statistics {
 public:
  /// Counts a block of which only the first `kept` tokens were emitted (a stop word may cut it).
  void count(const Block& block, std::size_t kept);
  /// Counts what another run counted, and adds its seconds.
  void add(const Statistics& other);

  std::size_t blocks() const { return blocks_; }
  std::size_t generated() const { return generated_; }
  std::size_t target_calls() const { return target_calls_; }
  std::size_t drafted() const { return drafted_; }
  std::size_t accepted() const { return accepted_; }
  /// Tokens per target call; 0 before the first.
  double block_efficiency() const;
  /// accepted / drafted; 0 where nothing was drafted.
  double acceptance_rate() const;
  /// [i] is the share of blocks whose i-th token was an accepted draft; for every position that was drafted.
  std::vector<double> acceptance_per_position() const;
  /// [i] is the number of blocks that accepted i drafts.
  std::vector<std::size_t> acceptance_histogram() const;
  /// The mean TV per token between the distribution that it was drawn from and the target's; none where a
  /// block does not know it.
  std::optional<double> bias_tv() const;
  /// The mean probability per token that a test rejects, 0 for tokens that were not tested; none where no
  /// biased plan tested any. Together with bias_tv() it is the trade of rejection for bias (Yin et al.,
  /// section 4).
  std::optional<double> rejection() const;
  /// The exponential of the mean negative log-likelihood of the tokens under the unfiltered target.
  double perplexity() const;

  double prompt_seconds = 0.0;
  double total_seconds = 0.0;  ///< prompt included
  StageSeconds stages;
  /// Generated tokens per second after the prompt.
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
