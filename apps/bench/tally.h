#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/generation.h"

namespace spectr::bench {

/// What the answers to prompts took, counted together.
class Tally {
 public:
  void add(const Statistics& statistics);
  void add(const Answers& answers);

  double generated() const { return generated_; }
  double block_efficiency() const;
  double acceptance_rate() const;
  std::vector<double> acceptance_per_position() const;
  double perplexity() const;
  /// Mean TV per token; none where a method does not know it.
  std::optional<double> bias_tv() const;
  /// Tokens per second after the prompts were read.
  double tokens_per_second() const;

  double prompt_seconds = 0.0, total_seconds = 0.0;
  StageSeconds stages;

 private:
  double generated_ = 0.0, target_calls_ = 0.0, blocks_ = 0.0, drafted_ = 0.0, accepted_ = 0.0;
  std::vector<double> accepted_at_;  // blocks whose i-th token was an accepted draft
  double negative_log_likelihood_ = 0.0;
  std::optional<double> bias_ = 0.0;
};

}  // namespace spectr::bench
