#pragma once

#include "spectr/decode/verifier.h"

namespace spectr {

/// Draws the token after a fully accepted path from the target (the bonus; the target's own token where
/// nothing was drafted), unless the text has ended or reached its limit.
Result<void> draw_bonus(const BlockStart& start, const Draft& draft, NodeLaws& target, Choices& choices,
                        Verdict& verdict);

}  // namespace spectr
