#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// qwen3moe: like qwen3, with experts instead of the feed-forward block.
Result<void> read_qwen3moe(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  SPECTR_TRY(const ExpertKeys experts, expert_keys(in, ExpertsSpec::Gating::softmax, true));
  return gated_decoder(in, {.pairs = RopePairs::halves, .beside = head_norms, .experts = experts});
}

/// qwen3vlmoe, read as a language model: in text, all its position sections are equal, and nothing is added
/// to its layers for images.
Result<void> read_qwen3vlmoe(ArchReader& in) {
  in.ignore({"rope.dimension_sections", "n_deepstack_layers"});
  return read_qwen3moe(in);
}

}  // namespace spectr
