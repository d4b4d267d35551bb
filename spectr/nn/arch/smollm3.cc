#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// smollm3: like llama, but every fourth layer has no rotary positions.
Result<void> read_smollm3(ArchReader& in) {
  SPECTR_TRY_VOID(gated_decoder(in, {.pairs = RopePairs::interleaved}));
  std::vector<LayerSpec>& layers = in.spec().layers;
  for (std::size_t i = 3; i < layers.size(); i += 4) layers[i].attention()->rope = {};
  return {};
}

}  // namespace spectr
