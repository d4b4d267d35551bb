#pragma once

#include "spectr/decode/drafter.h"
#include "spectr/decode/verifier.h"

namespace spectr {

/// BiLD's draft (arXiv 2302.07863): the small model goes on alone as long as its likeliest token has a
/// probability of at least the fallback threshold τ₁, for at most L tokens. The cut looks at the law, never
/// at the token drawn from it.
class ConfidentDrafter final : public Drafter {
 public:
  ConfidentDrafter(double fallback, std::size_t length) : fallback_(fallback), length_(length) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t most_nodes(std::size_t left) const override { return 1 + std::min(length_, left); }
  DraftShape shape() const override { return {1, length_}; }

 private:
  double fallback_;
  std::size_t length_;
};

/// BiLD's verification (lossy): roll back to the first token with −ln q(x) above the rollback threshold τ₂
/// and draw it from the target; without one, the target adds a token.
class Rollback final : public Verifier {
 public:
  explicit Rollback(double rollback) : rollback_(rollback) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeLaws& target,
                         Choices& choices) const override;

 private:
  double rollback_;
};

}  // namespace spectr
