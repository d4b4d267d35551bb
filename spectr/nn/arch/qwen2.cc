#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// qwen2: like llama, but with biases of queries, keys and values, and rotary pairs (i, i + dims / 2).
Result<void> read_qwen2(ArchReader& in) {
  in.leave_out("attention.sliding_window");  // no engine applies it
  return gated_decoder(in, {.pairs = RopePairs::halves, .qkv_bias = ArchReader::Bias::required});
}

/// qwen2vl, read as a language model: in text, all its position sections are equal.
Result<void> read_qwen2vl(ArchReader& in) {
  in.ignore({"rope.dimension_sections"});
  return read_qwen2(in);
}

}  // namespace spectr
