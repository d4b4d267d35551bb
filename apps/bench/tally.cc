#include "apps/bench/tally.h"

#include <algorithm>
#include <cmath>

namespace spectr::bench {
namespace {

double ratio(double a, double b) {
  return b > 0.0 ? a / b : 0.0;
}

}  // namespace

void Tally::add(const Statistics& s) {
  const auto generated = static_cast<double>(s.generated()), blocks = static_cast<double>(s.blocks());
  generated_ += generated;
  target_calls_ += static_cast<double>(s.target_calls());
  blocks_ += blocks;
  drafted_ += static_cast<double>(s.drafted());
  accepted_ += static_cast<double>(s.accepted());
  negative_log_likelihood_ += generated * std::log(s.perplexity());
  bias_ = bias_ && s.bias_tv() ? std::optional(*bias_ + generated * *s.bias_tv()) : std::nullopt;
  const std::vector<double> shares = s.acceptance_per_position();
  accepted_at_.resize(std::max(accepted_at_.size(), shares.size()), 0.0);
  for (std::size_t i = 0; i < shares.size(); ++i) accepted_at_[i] += blocks * shares[i];
  prompt_seconds += s.prompt_seconds;
  total_seconds += s.total_seconds;
  stages.draft += s.stages.draft;
  stages.target += s.stages.target;
  stages.select += s.stages.select;
}

void Tally::add(const Answers& answers) {
  for (const Statistics& s : answers.statistics) add(s);
}

double Tally::block_efficiency() const {
  return ratio(generated_, target_calls_);
}

double Tally::acceptance_rate() const {
  return ratio(accepted_, drafted_);
}

std::vector<double> Tally::acceptance_per_position() const {
  std::vector<double> shares;
  for (double count : accepted_at_) shares.push_back(ratio(count, blocks_));
  return shares;
}

double Tally::perplexity() const {
  return std::exp(ratio(negative_log_likelihood_, generated_));
}

std::optional<double> Tally::bias_tv() const {
  return bias_ ? std::optional(ratio(*bias_, generated_)) : std::nullopt;
}

double Tally::tokens_per_second() const {
  return ratio(generated_, total_seconds - prompt_seconds);
}

}  // namespace spectr::bench
