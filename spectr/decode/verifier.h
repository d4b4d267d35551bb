#pragma once

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/decode/node_laws.h"

namespace spectr {

/// Chooses among what was drafted, given the target's laws.
class Verifier {
 public:
  virtual ~Verifier() = default;

  /// The accepted path and the token after it. `target` knows the law of every node of the draft's tree.
  /// At most start.left tokens; none after a token that ends the text.
  virtual Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeLaws& target,
                                 Choices& choices) const = 0;
};

}  // namespace spectr
