#pragma once

#include <cstddef>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"

namespace spectr {

// What architectures have in common, for their files to put together: keys first, then, after
// ArchReader::end_of_keys, tensors. Everything is checked (positive, bounded, divisible), so that no product
// of a few sizes overflows.

/// Sizes by layer.
struct DecoderKeys {
  std::vector<std::size_t> heads, kv_heads, ffn;
  std::size_t head_dim;  ///< of queries, keys and values in all layers
  float epsilon;         ///< of norms
  std::size_t window;    ///< AttentionSpec::window
};

/// Context, width, layers, heads, feed-forward widths and the norms' ε go to the spec and the result; keys
/// that ask for what no part here has are refused unless they are neutral, or become requirements.
Result<DecoderKeys> decoder_keys(ArchReader& in, NormSpec::Kind norms);

/// Rotary positions as the keys have them; frequencies without the factors of `rope_freqs.weight`.
struct RopeKeys {
  std::size_t dims;
  float base, scale;
};
Result<RopeKeys> rope_keys(ArchReader& in, std::size_t head_dim);

/// Dimensions of a head that turn together: (2i, 2i + 1), or (i, i + dims / 2).
enum class RopePairs { interleaved, halves };
/// Its tensor, `rope_freqs.weight`, is optional: divisors of the frequencies.
Result<RopeSpec> rope(ArchReader& in, const RopeKeys& keys, RopePairs pairs);

/// spec().vocabulary from token_embd.weight, which has a row for each token of the tokenizer; the embedding.
Result<void> embedding(ArchReader& in);

/// Heads, dimensions and scale 1/√head_dim of a layer's attention, without weights.
AttentionSpec attention_sizes(const DecoderKeys& keys, std::size_t layer);
/// Its projections attn_q, attn_k, attn_v and attn_output: one matrix each.
Result<void> separate_projections(ArchReader& in, std::size_t layer, ArchReader::Bias qkv_bias);
/// The same with attn_qkv, the rows of queries, keys and values after each other, and biases everywhere.
/// Requires: as many heads of keys as of queries (fused_heads).
Result<void> fused_projections(ArchReader& in, std::size_t layer);
/// Error: heads that do not fill the width exactly, once each for queries, keys and values.
Result<void> fused_heads(ArchReader& in, const DecoderKeys& keys);

/// The feed-forward block ffn_gate, ffn_up, ffn_down with SiLU.
Result<DenseSpec> gated_ffn(ArchReader& in, std::size_t layer, std::size_t width);
/// The block ffn_up, ffn_down with GELU and biases.
Result<DenseSpec> plain_ffn(ArchReader& in, std::size_t layer, std::size_t width);

/// output_norm, and the matrix `output`; without it, if `may_be_tied`, the token embedding.
Result<void> head(ArchReader& in, NormSpec::Kind norm, float epsilon, bool may_be_tied);

/// What is normalized: what blocks read (attn_norm, ffn_norm), or what they add (post_attention_norm,
/// post_ffw_norm).
enum class NormPlace { before_blocks, behind_blocks };
/// llama and its kin, keys and tensors: root-mean-square norms, separate projections, SwiGLU, an output that
/// may be tied. `beside`, where there is one, reads what a family has in each layer's attention beside that.
Result<void> gated_decoder(ArchReader& in, RopePairs pairs, ArchReader::Bias qkv_bias,
                           Result<void> (*beside)(ArchReader& in, const DecoderKeys& keys,
                                                  std::size_t layer) = nullptr,
                           NormPlace norms = NormPlace::before_blocks);

/// "blk.LAYER.PART"
std::string block(std::size_t layer, std::string_view part);

}  // namespace spectr
