#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// qwen2: as llama, but queries, keys and values have biases, and the halves of a head turn together.
Result<void> read_qwen2(ArchReader& in) {
  return gated_decoder(in, RopePairs::halves, ArchReader::Bias::required);
}

}  // namespace spectr
