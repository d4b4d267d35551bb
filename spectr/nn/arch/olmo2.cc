#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

namespace {

Result<void> vector_norms(ArchReader& in, const DecoderKeys& keys, std::size_t layer) {
  constexpr auto rms = NormSpec::Kind::rms;
  AttentionSpec& attention = in.spec().layers[layer].attention;
  attention.norms_whole_vector = true;
  SPECTR_TRY(attention.q_norm, in.norm(block(layer, "attn_q_norm"), attention.q.out, rms, keys.epsilon));
  SPECTR_TRY(attention.k_norm, in.norm(block(layer, "attn_k_norm"), attention.k.out, rms, keys.epsilon));
  return {};
}

}  // namespace

/// olmo2: as llama, but blocks read the stream as it is, and what they add is normalized; so are queries and
/// keys, the heads of each together. The halves of a head turn together.
Result<void> read_olmo2(ArchReader& in) {
  return gated_decoder(
      in, {.pairs = RopePairs::halves, .beside = vector_norms, .norms = NormPlace::behind_blocks});
}

}  // namespace spectr
