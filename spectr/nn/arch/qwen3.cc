#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// qwen3: as llama, but each head of queries and keys is normalized, and the halves of a head turn together.
Result<void> read_qwen3(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  return gated_decoder(in, {.pairs = RopePairs::halves, .beside = head_norms});
}

}  // namespace spectr
