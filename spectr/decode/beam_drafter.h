#pragma once

#include <algorithm>
#include <memory>

#include "spectr/decode/beam_search.h"

namespace spectr {

/// What the drafters with a beam search have in common: its size.
class BeamSearchDrafter : public Drafter {
 public:
  std::size_t max_nodes(std::size_t left) const final { return 1 + search_.width * std::min(length_, left); }
  double outcomes(std::size_t vocabulary, std::size_t left) const final {
    return search_.outcomes(vocabulary, std::min(length_, left));
  }
  /// One beam is what is verified, of however many were searched.
  DraftShape shape() const final { return {1, length_}; }

 protected:
  BeamSearchDrafter(BeamSearch search, std::size_t length) : search_(search), length_(length) {}

  BeamSearch search_;
  std::size_t length_;
};

/// MTAD's draft: the likeliest beam of a beam search in the draft model, as one chain.
class BeamDrafter final : public BeamSearchDrafter {
 public:
  BeamDrafter(BeamSearch search, std::size_t length) : BeamSearchDrafter(search, length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;

 private:
  std::unique_ptr<Draft> beams_;  // owns the distributions that the chain's draws refer to
};

/// MTJD (arXiv 2407.09722, section 3.1), what MTAD approximates: a beam search in the *target*, whose
/// likeliest beam is the block. It goes with AcceptSettled.
class TargetBeams final : public BeamSearchDrafter {
 public:
  TargetBeams(BeamSearch search, std::size_t length) : BeamSearchDrafter(search, length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
};

}  // namespace spectr
