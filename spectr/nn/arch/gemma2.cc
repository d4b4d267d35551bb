#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/gemma.h"

namespace spectr {

/// gemma2: every second layer has full attention; scores and logits are capped.
Result<void> read_gemma2(ArchReader& in) {
  return read_gemma(in, {.windows = {.window = 4096, .period = 2, .base = {}},
                         .score_cap = 50,
                         .logit_cap = 30,
                         .head_norms = false,
                         .layers_scaled_by_width = 46});
}

}  // namespace spectr
