#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "spectr/transport/plan.h"

namespace spectr {

/// A plan whose drafting law is the product p₁ × … × p_k: independent drafts.
class IndependentPlan : public TransportPlan {
 public:
  std::size_t drafts() const final { return laws_.count(); }

  void draw(std::span<Token> out, Choices& choices) const final {
    SPECTR_CHECK(out.size() == drafts());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = laws_[i].draw(choices);
  }

 protected:
  explicit IndependentPlan(DraftLaws laws) : laws_(std::move(laws)) {}
  const DraftLaws& laws() const { return laws_; }

 private:
  DraftLaws laws_;
};

}  // namespace spectr
