#pragma once

#include <memory>
#include <utility>

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Selects with one of two verifiers: `dense` if the target's distribution at the root is dense, otherwise
/// `cut`. Lossless if both are, because that distribution does not depend on the drafts.
class VerifierByDensity final : public Verifier {
 public:
  VerifierByDensity(std::unique_ptr<Verifier> dense, std::unique_ptr<Verifier> cut)
      : dense_(std::move(dense)), cut_(std::move(cut)) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override {
    SPECTR_TRY(const Distribution* q, target.at(TokenTree::root));
    return (q->is_dense() ? *dense_ : *cut_).select(start, draft, target, choices);
  }

 private:
  std::unique_ptr<Verifier> dense_, cut_;
};

}  // namespace spectr
