#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "spectr/decode/beam_search.h"
#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// The common part of drafters with a beam search: its size.
class BeamSearchDrafter : public Drafter {
 public:
  std::size_t max_nodes(std::size_t left) const final { return 1 + search_.width * std::min(length_, left); }
  double outcomes(std::size_t vocabulary, std::size_t left) const final {
    return search_.outcomes(vocabulary, std::min(length_, left));
  }

 protected:
  /// `length` is that of the longest beams.
  BeamSearchDrafter(BeamSearch search, std::size_t length) : search_(search), length_(length) {}

  BeamSearch search_;
  std::size_t length_;
};

/// MTAD's draft: the likeliest K beams of a beam search in the draft model, as one tree. Beams with a common
/// prefix share its draws. Every draw has the ln p that a JointThreshold with the same `law` compares.
class BeamDrafter final : public BeamSearchDrafter {
 public:
  /// `drafts` is K; at most W beams are used.
  BeamDrafter(BeamSearch search, std::size_t length, std::size_t drafts = 1, JointLaw law = JointLaw::warped)
      : BeamSearchDrafter(search, length), drafts_(std::min(drafts, search.width)), law_(law) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  DraftShape shape() const override { return {drafts_, length_}; }

 private:
  double log_likelihood(const Draw& draw, const Session& model) const;

  std::size_t drafts_;
  JointLaw law_;
  std::unique_ptr<Draft> beams_;  // owns the distributions that the tree's draws refer to
};

/// MTJD (arXiv 2407.09722, section 3.1), which MTAD approximates: a beam search in the *target*, whose
/// likeliest beam is the block. It is used with AcceptSettled.
///
/// Block i takes γ_i tokens (definition 3.1); the sequence γ₁, γ₂, … is repeated cyclically.
class TargetBeams final : public BeamSearchDrafter {
 public:
  /// Requires: at least one length.
  TargetBeams(BeamSearch search, RecycledVector<std::size_t> lengths)
      : BeamSearchDrafter(search, std::ranges::max(lengths)), lengths_(std::move(lengths)) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  /// Only one beam is committed, regardless of the number that was searched.
  DraftShape shape() const override { return {1, length_}; }
  bool is_stateful() const override { return lengths_.size() > 1; }

 private:
  RecycledVector<std::size_t> lengths_;
};

}  // namespace spectr
