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

/// Returns a rank's partial answer to a query about a row whose logits for `tokens` it has.
std::vector<std::byte> answer_of(const Question& question, const Logits& row, Range tokens);

/// The logits of a pass, split over the ranks by token. Queries are sent to all ranks and their partial
/// answers are combined. Throws RankFailure if a rank does not answer.
class SharedLogits final : public PassLogits, public LogitRows {
 public:
  /// `place` is the slot by which all ranks identify the logits of this pass.
  SharedLogits(LeaderOps& leader, std::uint32_t place, std::size_t vocabulary, RankOf who)
      : leader_(leader), place_(place), vocabulary_(vocabulary), who_(who) {}

  std::uint32_t place() const { return place_; }
  /// Replaces the contents by those of another pass. `mine` are the logits of the leader's tokens.
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
  HeldLogits local_logits_;
  mutable std::vector<std::vector<float>> rows_;  // rows gathered so far; one thread per row
};

}  // namespace spectr
