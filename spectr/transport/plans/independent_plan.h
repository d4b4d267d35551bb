#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "spectr/transport/plan.h"

namespace spectr {

/// A plan whose drafting distribution is the product p₁ × … × p_k: independent drafts.
class IndependentPlan : public TransportPlan {
 public:
  std::size_t drafts() const final { return distributions_.count(); }

  void draw(std::span<Token> out, Choices& choices) const final {
    SPECTR_CHECK(out.size() == drafts());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = distributions_[i].draw(choices);
  }

 protected:
  explicit IndependentPlan(DraftDistributions distributions) : distributions_(std::move(distributions)) {}
  const DraftDistributions& distributions() const { return distributions_; }

 private:
  DraftDistributions distributions_;
};

}  // namespace spectr
