#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// qwen3: as llama, but each head of queries and keys is normalized, and the halves of a head turn together.
Result<void> read_qwen3(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  return gated_decoder(in, {.pairs = RopePairs::halves, .beside = head_norms});
}

/// qwen3vl, read as a language model: in a text its sections of positions are all alike, and no layer is
/// added to by pictures.
Result<void> read_qwen3vl(ArchReader& in) {
  in.ignore({"rope.dimension_sections", "n_deepstack_layers"});
  return read_qwen3(in);
}

}  // namespace spectr
