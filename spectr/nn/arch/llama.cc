#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// llama: the decoder that others are compared with; neighbouring dimensions turn together, biases where the
/// file has them.
Result<void> read_llama(ArchReader& in) {
  return gated_decoder(in, RopePairs::interleaved, ArchReader::Bias::optional);
}

}  // namespace spectr
