#pragma once

#include "spectr/decode/drafter.h"

namespace spectr {

/// Free drafts from the text itself (prompt lookup): looks for the latest earlier place where the last N
/// tokens stand (else N−1, … 1) and proposes the tokens that followed it, in circles where the text has no
/// more. Their law is a point mass, so a token is accepted with the target's own probability and the output's
/// law is the target's. Cost: O(N · text); no model.
class NgramDrafter final : public Drafter {
 public:
  NgramDrafter(std::size_t order, std::size_t length) : order_(order), length_(length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t most_nodes(std::size_t left) const override { return 1 + std::min(length_, left); }
  DraftShape shape() const override { return {1, length_}; }
  double outcomes(std::size_t, std::size_t) const override { return 1.0; }
  bool reads_text() const override { return true; }

 private:
  std::size_t order_;
  std::size_t length_;
};

}  // namespace spectr
