#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// qwen3: like llama, but with normalized heads of queries and keys, and rotary pairs (i, i + dims / 2).
Result<void> read_qwen3(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  return gated_decoder(in, {.pairs = RopePairs::halves, .beside = head_norms});
}

/// qwen3vl, read as a language model: in text, all its position sections are equal, and nothing is added to
/// its layers for images.
Result<void> read_qwen3vl(ArchReader& in) {
  in.ignore({"rope.dimension_sections", "n_deepstack_layers"});
  return read_qwen3(in);
}

}  // namespace spectr
