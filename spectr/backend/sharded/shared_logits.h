#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/backend/sharded/messages.h"
#include "spectr/backend/sharded/model_part.h"
#include "spectr/nn/ops.h"

namespace spectr {

class LeaderOps;

/// What a rank knows of a question about a row of which it has the logits of `tokens`.
std::vector<std::byte> answer_of(const Question& question, const Logits& row, Range tokens);

/// The logits of a pass, each rank's tokens with that rank: questions go to all, and what they answer is put
/// together here. Throws RankFailure where one does not.
class SharedLogits final : public PassLogits, public LogitRows {
 public:
  /// `place`: by which ranks know the pass's logits.
  SharedLogits(LeaderOps& leader, std::uint32_t place, std::size_t vocabulary, RankOf who)
      : leader_(leader), place_(place), vocabulary_(vocabulary), who_(who) {}

  std::uint32_t place() const { return place_; }
  /// Of another pass. `mine`: those of the leader's tokens.
  void take(HeldLogits mine, std::size_t rows);

  Logits row(std::size_t i) const override { return {*this, i, vocabulary_}; }
  double at(std::size_t row, Token token) const override;
  void top(std::size_t row, std::size_t size, std::size_t k, RecycledVector<Candidate>& out) const override;
  double log_sum_exp(std::size_t row, std::size_t size, double temperature) const override;
  std::span<const float> values(std::size_t row) const override;

 private:
  Range tokens_of(std::size_t rank) const { return part_of(vocabulary_, {rank, who_.ranks}); }
  std::vector<std::vector<std::byte>> ask(const Question& question) const;

  LeaderOps& leader_;
  std::uint32_t place_;
  std::size_t vocabulary_;
  RankOf who_;
  HeldLogits mine_;
  mutable std::vector<std::vector<float>> rows_;  // that were brought here; a row's asked by one thread
};

}  // namespace spectr
