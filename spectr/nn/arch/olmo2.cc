#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"

namespace spectr {

namespace {

Result<void> vector_norms(ArchReader& in, const DecoderKeys& keys, std::size_t layer) {
  constexpr auto rms = NormSpec::Kind::rms;
  AttentionSpec& attention = *in.spec().layers[layer].attention();
  attention.norms_whole_vector = true;
  SPECTR_TRY(attention.q_norm, in.norm(block(layer, "attn_q_norm"), attention.q.out, rms, keys.epsilon));
  SPECTR_TRY(attention.k_norm, in.norm(block(layer, "attn_k_norm"), attention.k.out, rms, keys.epsilon));
  return {};
}

}  // namespace

/// olmo2: like llama, but blocks read the stream without a norm, and their outputs are normalized. So are
/// queries and keys, all heads together. Rotary pairs are (i, i + dims / 2). OLMo 3 has windows in three
/// layers of four, whose rotary positions are not scaled.
Result<void> read_olmo2(ArchReader& in) {
  SPECTR_TRY(WindowKeys windows, window_keys(in, {.window = 0, .period = 4, .base = {}}));
  if (!windows.base) {
    SPECTR_TRY(windows.base, in.real("rope.freq_base", 1, 1e12, 10000));
  }
  SPECTR_TRY_VOID(gated_decoder(
      in, {.pairs = RopePairs::halves, .beside = vector_norms, .norms = NormPlace::behind_blocks}));
  apply_windows(in, windows);
  return {};
}

}  // namespace spectr
