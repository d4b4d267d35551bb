#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// llama: the decoder that others are compared with; neighbouring dimensions turn together, biases where the
/// file has them, experts where it has those (Mixtral).
Result<void> read_llama(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  GatedDecoder family{.pairs = RopePairs::interleaved};
  SPECTR_TRY(family.experts, experts_or_none(in, ExpertsSpec::Gating::softmax, true));
  return gated_decoder(in, family);
}

}  // namespace spectr
