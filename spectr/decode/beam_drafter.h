#pragma once

#include <memory>

#include "spectr/decode/beam_search.h"

namespace spectr {

/// MTAD's draft: the likeliest beam of a beam search in the draft model, as one chain.
class BeamDrafter final : public Drafter {
 public:
  BeamDrafter(BeamSearch search, std::size_t length) : search_(search), length_(length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t most_nodes(std::size_t left) const override;
  double outcomes(std::size_t vocabulary, std::size_t left) const override;
  DraftShape shape() const override { return {search_.width, length_}; }

 private:
  BeamSearch search_;
  std::size_t length_;
  std::unique_ptr<Draft> beams_;  // owns the laws that the chain's draws refer to
};

/// MTJD (arXiv 2407.09722, section 3.1), what MTAD approximates: a beam search in the *target*, whose
/// likeliest beam is the block. Goes with AcceptSettled.
class TargetBeams final : public Drafter {
 public:
  TargetBeams(BeamSearch search, std::size_t length) : search_(search), length_(length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t most_nodes(std::size_t left) const override;
  double outcomes(std::size_t vocabulary, std::size_t left) const override;
  DraftShape shape() const override { return {search_.width, length_}; }

 private:
  BeamSearch search_;
  std::size_t length_;
};

}  // namespace spectr
