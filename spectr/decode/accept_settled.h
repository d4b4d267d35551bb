#pragma once

#include "spectr/decode/verifier.h"

namespace spectr {

/// Takes the path that the drafter has settled on with the target's own laws (MTJD): nothing is verified, and
/// the bias of the output is not known.
class AcceptSettled final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart&, const Draft& draft, NodeLaws&, Choices&) const override {
    Verdict verdict;
    for (std::size_t draw : draft.settled()) verdict.path.push_back(draft.draw(draw).node);
    verdict.path_source = Source::target;
    verdict.biases_known = false;
    return verdict;
  }
};

}  // namespace spectr
