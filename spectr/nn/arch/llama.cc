#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// llama: the reference decoder of the other families, with interleaved rotary pairs, optional biases, and
/// optional experts (Mixtral).
Result<void> read_llama(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  GatedDecoder family{.pairs = RopePairs::interleaved};
  SPECTR_TRY(family.experts, experts_or_none(in, ExpertsSpec::Gating::softmax, true));
  return gated_decoder(in, family);
}

}  // namespace spectr
