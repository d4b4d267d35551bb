#pragma once

#include "spectr/base/result.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// Whether a draft's tokens mean to the target what they mean to the draft, so that one can verify the other:
/// both are of the same type, and every id is the same text in both, or padding in one of them, or absent
/// from one and padding in the other. Padding are tokens of kind `unused`, or whose text is empty or begins
/// with "[PAD", "<pad" or "<|PAD". With which tokens a draft model would begin and end texts of its own does
/// not matter: it reads and continues the target's. The error names both files, the first id that differs
/// and its texts.
Result<void> same_vocabulary(const Vocabulary& target, const Vocabulary& draft);

}  // namespace spectr
