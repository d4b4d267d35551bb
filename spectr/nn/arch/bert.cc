#include <utility>

#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {
namespace {

/// The differences between the families of encoders.
struct Encoder {
  bool rotates;  ///< rotary instead of learned positions
  bool gated;    ///< SwiGLU instead of GELU
};

Result<void> read_direction(ArchReader& in) {
  SPECTR_TRY(const bool causal, in.boolean("attention.causal", true));
  if (causal) {
    return error(ErrorCode::unsupported, "{}: {} is true, but models of this architecture are encoders",
                 in.file().name(), in.key("attention.causal"));
  }
  in.spec().bidirectional = true;
  return {};
}

/// Reads the tensors `cls` and `cls.output`, if present.
Result<void> read_classifier(ArchReader& in) {
  constexpr std::string_view labels_key = "classifier.output_labels";
  ModelSpec& spec = in.spec();
  in.ignore({labels_key});
  SPECTR_TRY(const auto labels, in.file().strings(in.key(labels_key)));
  const GgufTensor* output = in.file().tensor("cls.output.weight");
  if (output == nullptr) return {};
  ClassifierSpec classifier;
  const std::size_t scores = output->rows();
  if (!labels.empty() && labels.size() != scores) {
    return error("{}: tensor {} has {} rows for the {} names of {}", in.file().name(), output->name, scores,
                 labels.size(), in.key(labels_key));
  }
  SPECTR_TRY(classifier.output, in.numbers("cls.output.weight", scores, spec.width));
  SPECTR_TRY(classifier.output_bias, in.numbers("cls.output.bias", scores));
  SPECTR_TRY(classifier.dense, in.numbers("cls.weight", spec.width, spec.width));
  SPECTR_TRY(classifier.dense_bias, in.numbers("cls.bias", spec.width));
  spec.classifier = std::move(classifier);
  return {};
}

Result<void> read_embeddings(ArchReader& in, const Encoder& family) {
  constexpr std::string_view segments = "token_types.weight";
  ModelSpec& spec = in.spec();
  SPECTR_TRY_VOID(embedding(in));
  if (const GgufTensor* tensor = in.file().tensor(segments)) {
    SPECTR_TRY(spec.embed.segments, in.matrix(segments, tensor->rows(), spec.width));
  }
  if (family.rotates) return {};
  SPECTR_TRY(spec.embed.positions, in.matrix("position_embd.weight", spec.context, spec.width));
  spec.max_context = spec.context;
  return {};
}

/// The stream is normalized before the first layer and after each block: the norm after a layer serves as the
/// one before the next layer and, after the last layer, as the head's.
Result<void> read_encoder(ArchReader& in, const Encoder& family) {
  constexpr auto layer_norm = NormSpec::Kind::layer;
  ModelSpec& spec = in.spec();
  SPECTR_TRY_VOID(read_direction(in));
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, layer_norm, {.reads_causal = true}));
  RopeKeys rotation{};
  if (family.rotates) {
    SPECTR_TRY(rotation, rope_keys(in, keys.head_dim));
  }
  SPECTR_TRY_VOID(read_classifier(in));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(read_embeddings(in, family));
  RopeSpec positions;
  if (family.rotates) {
    SPECTR_TRY(positions, rope(in, rotation, RopePairs::halves));
  }
  SPECTR_TRY(NormSpec before, in.norm("token_embd_norm", spec.width, layer_norm, keys.epsilon));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.norms_stream = true;
    layer.mixer_norm = before;
    layer.mixer.emplace<AttentionSpec>(attention_sizes(keys, i)).rope = positions;
    SPECTR_TRY_VOID(projections(in, i, ArchReader::Bias::optional));
    SPECTR_TRY(layer.ffn_norm, in.norm(block(i, "attn_output_norm"), spec.width, layer_norm, keys.epsilon));
    if (family.gated) {
      SPECTR_TRY(layer.ffn, gated_ffn(in, i, keys.ffn[i]));
    } else {
      SPECTR_TRY(layer.ffn, plain_ffn(in, i, keys.ffn[i], Activation::gelu));
    }
    SPECTR_TRY(before, in.norm(block(i, "layer_output_norm"), spec.width, layer_norm, keys.epsilon));
  }
  spec.head.norm = before;
  spec.head.output = {spec.embed.tokens, {}, spec.vocabulary, spec.width};  // unused: passes want no logits
  spec.taps = {{spec.layers.size(), true}};
  return {};
}

}  // namespace

/// bert: an encoder with learned positions, GELU, norms after blocks, and biases everywhere. Rerankers also
/// have a classifier.
Result<void> read_bert(ArchReader& in) {
  return read_encoder(in, {.rotates = false, .gated = false});
}

/// nomic-bert: like bert, with rotary positions and SwiGLU, without biases.
Result<void> read_nomic_bert(ArchReader& in) {
  return read_encoder(in, {.rotates = true, .gated = true});
}

}  // namespace spectr
