#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/arch/experts.h"
#include "spectr/nn/arch/rope.h"

namespace spectr {

// Parts that architectures have in common, for their files to combine: keys first, then, after
// ArchReader::end_of_keys(), tensors. All sizes are checked (positive, bounded, divisible), so that products
// of a few sizes do not overflow.

/// Sizes of a decoder; the vectors have one entry per layer.
struct DecoderKeys {
  std::vector<std::size_t> heads, kv_heads, ffn;
  std::size_t head_dim;  ///< of a query, key or value, in all layers
  float epsilon;         ///< of norms
};

/// Additional settings that a family's keys may have.
struct DecoderRules {
  bool layers_without_attention = false;  ///< such layers have 0 key heads
  bool values_differ = false;             ///< in size from keys; the family reads attention.value_length
  bool reads_causal = false;              ///< the family reads attention.causal
};

/// Reads context, width, heads, feed-forward widths and the norms' ε, to the spec and the result. Keys for
/// what no part here supports are refused unless they are neutral, or become requirements.
Result<DecoderKeys> decoder_keys(ArchReader& in, NormSpec::Kind norms, const DecoderRules& rules = {});

/// Reads the embedding token_embd.weight and sets spec().vocabulary: one row per token of the tokenizer.
Result<void> embedding(ArchReader& in);

/// Returns a layer's attention without weights: heads, dimensions and the scale 1/√head_dim.
AttentionSpec attention_sizes(const DecoderKeys& keys, std::size_t layer);
/// Reads its projections attn_q, attn_k, attn_v and attn_output: one matrix each.
Result<void> separate_projections(ArchReader& in, std::size_t layer, ArchReader::Bias qkv_bias);
/// Reads its projections from attn_qkv, which has the rows of queries, then keys, then values.
Result<void> fused_projections(ArchReader& in, std::size_t layer, ArchReader::Bias bias);
/// Reads whichever of the two the file has.
Result<void> projections(ArchReader& in, std::size_t layer, ArchReader::Bias bias);
/// Error: heads of queries, keys and values that are not equal in number or do not fill the width exactly.
Result<void> fused_heads(ArchReader& in, const DecoderKeys& keys);
/// Reads attn_q_norm and attn_k_norm, applied per head.
Result<void> head_norms(ArchReader& in, const DecoderKeys& keys, std::size_t layer);

/// Reads the feed-forward block ffn_gate, ffn_up, ffn_down; without ffn_gate, the first half of ffn_up's rows
/// is the gate. `suffix` is appended to the tensors' names.
Result<DenseSpec> gated_ffn(ArchReader& in, std::size_t layer, std::size_t width,
                            Activation activation = Activation::silu, std::string_view suffix = "");
/// Reads the feed-forward block ffn_up, ffn_down, with biases.
Result<DenseSpec> plain_ffn(ArchReader& in, std::size_t layer, std::size_t width,
                            Activation activation = Activation::gelu_tanh);

/// Reads the norm and the matrix `output`; without it, if `may_be_tied`, uses the token embedding.
Result<void> head(ArchReader& in, NormSpec::Kind norm, float epsilon, bool may_be_tied,
                  std::string_view name_of_norm = "output_norm");

/// Reads that matrix alone.
Result<LinearSpec> output_matrix(ArchReader& in, bool may_be_tied);

/// Position of the norms: on the blocks' inputs (attn_norm, ffn_norm), on their outputs (post_attention_norm,
/// post_ffw_norm), or on both.
enum class NormPlace { before_blocks, behind_blocks, around_blocks };

/// The differences between llama and its relatives.
struct GatedDecoder {
  RopePairs pairs;
  ArchReader::Bias qkv_bias = ArchReader::Bias::optional;
  /// Reads what a family's attention has in each layer in addition to the projections.
  Result<void> (*beside)(ArchReader& in, const DecoderKeys& keys, std::size_t layer) = nullptr;
  NormPlace norms = NormPlace::before_blocks;
  Activation activation = Activation::silu;
  std::optional<ExpertKeys> experts = {};  ///< instead of the feed-forward block
  DecoderRules rules = {};
  bool rounds_yarn = true;  ///< see RopeScaling
  std::string_view ffn_norm = "ffn_norm", output_norm = "output_norm";
  /// Reads a layer's mixer in the family's own way. Returns false if the layer has the usual attention.
  std::function<Result<bool>(std::size_t layer, const DecoderKeys& keys)> other_mixer = {};
};

/// Reads the keys and tensors of llama and its relatives: root-mean-square norms, separate or fused
/// projections, a gated feed-forward block, an output that may be tied.
Result<void> gated_decoder(ArchReader& in, const GatedDecoder& family);

/// Returns "blk.LAYER.PART".
std::string block(std::size_t layer, std::string_view part);

}  // namespace spectr
