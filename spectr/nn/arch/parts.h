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

// What architectures have in common, for their files to put together: keys first, then, after
// ArchReader::end_of_keys, tensors. Everything is checked (positive, bounded, divisible), so that no product
// of a few sizes overflows.

/// Sizes by layer.
struct DecoderKeys {
  std::vector<std::size_t> heads, kv_heads, ffn;
  std::size_t head_dim;  ///< of queries, keys and values in all layers
  float epsilon;         ///< of norms
};

/// What a family's keys may say beside.
struct DecoderRules {
  bool layers_without_attention = false;  ///< they have 0 heads of keys
  bool values_differ = false;             ///< in size from keys: the family reads attention.value_length
  bool reads_causal = false;              ///< the family reads attention.causal
};

/// Context, width, heads, feed-forward widths and the norms' ε go to the spec and the result; keys that ask
/// for what no part here has are refused unless they are neutral, or become requirements.
Result<DecoderKeys> decoder_keys(ArchReader& in, NormSpec::Kind norms, const DecoderRules& rules = {});

/// spec().vocabulary from token_embd.weight, which has a row for each token of the tokenizer; the embedding.
Result<void> embedding(ArchReader& in);

/// Heads, dimensions and scale 1/√head_dim of a layer's attention, without weights.
AttentionSpec attention_sizes(const DecoderKeys& keys, std::size_t layer);
/// Its projections attn_q, attn_k, attn_v and attn_output: one matrix each.
Result<void> separate_projections(ArchReader& in, std::size_t layer, ArchReader::Bias qkv_bias);
/// The same with attn_qkv, the rows of queries, keys and values after each other.
Result<void> fused_projections(ArchReader& in, std::size_t layer, ArchReader::Bias bias);
/// The one or the other, whichever the file has.
Result<void> projections(ArchReader& in, std::size_t layer, ArchReader::Bias bias);
/// Error: heads that do not fill the width exactly, once each for queries, keys and values.
Result<void> fused_heads(ArchReader& in, const DecoderKeys& keys);
/// attn_q_norm and attn_k_norm, of each head.
Result<void> head_norms(ArchReader& in, const DecoderKeys& keys, std::size_t layer);

/// The feed-forward block ffn_gate, ffn_up, ffn_down; without ffn_gate, ffn_up has its rows first. `suffix`:
/// of the tensors' names.
Result<DenseSpec> gated_ffn(ArchReader& in, std::size_t layer, std::size_t width,
                            Activation activation = Activation::silu, std::string_view suffix = "");
/// The block ffn_up, ffn_down with biases.
Result<DenseSpec> plain_ffn(ArchReader& in, std::size_t layer, std::size_t width,
                            Activation activation = Activation::gelu_tanh);

/// The norm, and the matrix `output`; without it, if `may_be_tied`, the token embedding.
Result<void> head(ArchReader& in, NormSpec::Kind norm, float epsilon, bool may_be_tied,
                  std::string_view name_of_norm = "output_norm");

/// That matrix alone.
Result<LinearSpec> output_matrix(ArchReader& in, bool may_be_tied);

/// What is normalized: what blocks read (attn_norm, ffn_norm), what they add (post_attention_norm,
/// post_ffw_norm), or both.
enum class NormPlace { before_blocks, behind_blocks, around_blocks };

/// In what llama and its kin differ.
struct GatedDecoder {
  RopePairs pairs;
  ArchReader::Bias qkv_bias = ArchReader::Bias::optional;
  /// Reads what a family has in each layer's attention beside the projections.
  Result<void> (*beside)(ArchReader& in, const DecoderKeys& keys, std::size_t layer) = nullptr;
  NormPlace norms = NormPlace::before_blocks;
  Activation activation = Activation::silu;
  std::optional<ExpertKeys> experts = {};  ///< instead of the feed-forward block
  DecoderRules rules = {};
  bool rounds_yarn = true;  ///< see RopeScaling
  std::string_view ffn_norm = "ffn_norm", output_norm = "output_norm";
  /// Reads the mixers of layers that have one of their own, and says of which it did.
  std::function<Result<bool>(std::size_t layer, const DecoderKeys& keys)> other_mixer = {};
};

/// Keys and tensors of llama and its kin: root-mean-square norms, separate or fused projections, a gated
/// feed-forward block, an output that may be tied.
Result<void> gated_decoder(ArchReader& in, const GatedDecoder& family);

/// "blk.LAYER.PART"
std::string block(std::size_t layer, std::string_view part);

}  // namespace spectr
