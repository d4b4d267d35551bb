#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

namespace {

Result<void> head_norms(ArchReader& in, const DecoderKeys& keys, std::size_t layer) {
  constexpr auto rms = NormSpec::Kind::rms;
  AttentionSpec& attention = in.spec().layers[layer].attention;
  SPECTR_TRY(attention.q_norm, in.norm(block(layer, "attn_q_norm"), keys.head_dim, rms, keys.epsilon));
  SPECTR_TRY(attention.k_norm, in.norm(block(layer, "attn_k_norm"), keys.head_dim, rms, keys.epsilon));
  return {};
}

}  // namespace

/// qwen3: as llama, but each head of queries and keys is normalized, and the halves of a head turn together.
Result<void> read_qwen3(ArchReader& in) {
  return gated_decoder(in, RopePairs::halves, ArchReader::Bias::optional, head_norms);
}

}  // namespace spectr
