#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/gemma.h"

namespace spectr {

/// gemma3: every sixth layer has full attention, the others a window and a rotary base of their own. Each
/// head of queries and keys is normalized.
Result<void> read_gemma3(ArchReader& in) {
  return read_gemma(in, {.windows = {.window = 0, .period = 6, .base = 10000},
                         .score_cap = 0,
                         .logit_cap = 0,
                         .head_norms = true,
                         .layers_scaled_by_width = 62});
}

}  // namespace spectr
