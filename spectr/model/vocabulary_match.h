#pragma once

#include "spectr/base/result.h"
#include "spectr/model/vocabulary.h"

namespace spectr {

/// Whether a draft's tokens mean to the target what they mean to the draft, so that one can verify the other:
/// both are of the same type, begin and end texts with the same tokens, and every id that both have is the
/// same text. One may have more tokens than the other if they are padding: tokens of kind `unused`, or whose
/// text is empty or begins with "[PAD" or "<pad". The error names both files, the first id that differs and
/// its texts.
Result<void> same_vocabulary(const Vocabulary& target, const Vocabulary& draft);

}  // namespace spectr
