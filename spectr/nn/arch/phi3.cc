#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// phi3: like llama, with one matrix for queries, keys and values and one for gates and ups. Heads are
/// rotated in part, in pairs of halves, with divisors that depend on the context's length.
Result<void> read_phi3(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  return gated_decoder(in, {.pairs = RopePairs::halves});
}

}  // namespace spectr
