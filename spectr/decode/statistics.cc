#include "spectr/decode/statistics.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/numeric.h"

namespace spectr {

void Statistics::count(const Block& block, std::size_t kept) {
  const std::size_t accepted = std::min(block.accepted, kept);
  ++blocks_;
  generated_ += kept;
  target_calls_ += block.target_calls;
  drafted_ += block.drafted;
  accepted_ += accepted;
  if (!block.biases) bias_ = std::nullopt;
  for (std::size_t i = 0; bias_ && i < std::min(kept, block.biases->size()); ++i)
    *bias_ += (*block.biases)[i];
  for (std::size_t i = 0; i < std::min(kept, block.rejections.size()); ++i)
    rejection_ = rejection_.value_or(0.0) + block.rejections[i];
  const std::size_t positions = std::max(accepted, block.depth);
  if (accepted_at_.size() < positions) accepted_at_.resize(positions, 0);
  for (std::size_t i = 0; i < accepted; ++i) ++accepted_at_[i];
  for (std::size_t i = 0; i < kept; ++i) negative_log_likelihood_ += block.negative_log_likelihoods[i];
}

void Statistics::add(const Statistics& other) {
  blocks_ += other.blocks_;
  generated_ += other.generated_;
  target_calls_ += other.target_calls_;
  drafted_ += other.drafted_;
  accepted_ += other.accepted_;
  accepted_at_.resize(std::max(accepted_at_.size(), other.accepted_at_.size()), 0);
  for (std::size_t i = 0; i < other.accepted_at_.size(); ++i) accepted_at_[i] += other.accepted_at_[i];
  negative_log_likelihood_ += other.negative_log_likelihood_;
  bias_ = bias_ && other.bias_ ? std::optional(*bias_ + *other.bias_) : std::nullopt;
  if (other.rejection_) rejection_ = rejection_.value_or(0.0) + *other.rejection_;
  prompt_seconds += other.prompt_seconds;
  total_seconds += other.total_seconds;
  stages.draft += other.stages.draft;
  stages.target += other.stages.target;
  stages.select += other.stages.select;
}

double Statistics::block_efficiency() const {
  return ratio(static_cast<double>(generated_), static_cast<double>(target_calls_));
}

double Statistics::acceptance_rate() const {
  return ratio(static_cast<double>(accepted_), static_cast<double>(drafted_));
}

std::vector<double> Statistics::acceptance_per_position() const {
  std::vector<double> shares;
  for (std::size_t count : accepted_at_) {
    shares.push_back(ratio(static_cast<double>(count), static_cast<double>(blocks_)));
  }
  return shares;
}

std::vector<std::size_t> Statistics::acceptance_histogram() const {
  std::vector<std::size_t> blocks = {blocks_};
  for (const std::size_t as_many : accepted_at_) {
    blocks.back() -= as_many;
    blocks.push_back(as_many);
  }
  return blocks;
}

std::optional<double> Statistics::bias_tv() const {
  if (!bias_) return std::nullopt;
  return ratio(*bias_, static_cast<double>(generated_));
}

std::optional<double> Statistics::rejection() const {
  if (!rejection_) return std::nullopt;
  return ratio(*rejection_, static_cast<double>(generated_));
}

double Statistics::perplexity() const {
  return std::exp(ratio(negative_log_likelihood_, static_cast<double>(generated_)));
}

double Statistics::tokens_per_second() const {
  return ratio(static_cast<double>(generated_), total_seconds - prompt_seconds);
}

}  // namespace spectr
