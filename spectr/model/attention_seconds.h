#pragma once

#include <cstddef>

#include "spectr/base/result.h"
#include "spectr/model/transformer.h"

namespace spectr {

/// Seconds that a row of a pass takes longer for every token of the text that it attends to: the attention of
/// passes of `rows` rows behind `depth` tokens against those behind one, the least of some of each. Takes
/// seconds at most. Requires: 1 ≤ rows ≤ vocabulary, 1 ≤ depth < context.
Result<double> attention_seconds(const Transformer& model, std::size_t rows, std::size_t depth);

}  // namespace spectr
