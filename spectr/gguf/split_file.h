#pragma once

#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"

namespace spectr {

/// An error for one of several parts that make up a model together: it says so in `split.count`, or by a name
/// that ends in -I-of-N.gguf with five digits each.
Result<void> refuse_split(const Gguf& file);

}  // namespace spectr
