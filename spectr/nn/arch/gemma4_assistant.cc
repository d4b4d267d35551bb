#include "spectr/nn/arch/gemma4.h"
#include "spectr/nn/drafters/drafter_reader.h"
#include "spectr/nn/drafters/drafters.h"

namespace spectr {
namespace {

constexpr auto rms_kind = NormSpec::Kind::rms;
constexpr auto may_have_bias = ArchReader::Bias::optional;

Result<void> assistant_keys(ArchReader& in, const ModelSpec& target) {
  const ModelSpec& spec = in.spec();
  SPECTR_TRY_VOID(same_as_target(in, "embedding_length_out", target.width, "the width", target));
  constexpr std::string_view further = "nextn_predict_layers";
  SPECTR_TRY(const std::size_t layers, in.count(further, 512, spec.layers.size()));
  if (layers != spec.layers.size()) {
    return error("{}: {} is {}, but {} is {}; both must be equal", spec.file, in.key(further), layers,
                 in.key("block_count"), spec.layers.size());
  }
  in.ignore({"attention.shared_kv_layers"});  // all layers read the target's
  SPECTR_TRY_VOID(in.neutral("embedding_length_per_layer_input", 0));
  in.leave_out("final_logit_softcapping");
  return {};
}

/// Lets a layer read the target's keys and values: those of the last layer or, with a window, of the layer
/// before it. Fails if their windows, heads or dimensions differ.
Result<void> read_target_cache(ArchReader& in, const Gemma4& gemma, const ModelSpec& target,
                               std::size_t layer) {
  AttentionSpec& a = *in.spec().layers[layer].attention();
  const bool slides = gemma.windows.slides(layer);
  const std::size_t before_end = slides ? 2 : 1;
  if (target.layers.size() < before_end) {
    return error(
        "{}: layer {} reads the keys and values of the target's layer before the last, but the "
        "target {} has 1 layer",
        in.file().name(), layer, target.file);
  }
  std::size_t source = target.layers.size() - before_end;
  const AttentionSpec* found = target.layers[source].attention();
  if (found != nullptr && found->kv_from) {
    source = *found->kv_from;
    found = target.layers[source].attention();
  }
  if (found == nullptr || found->latent) {
    return error("{}: layer {} reads the keys and values of layer {} of the target {}, which has none",
                 in.file().name(), layer, target.layers.size() - before_end, target.file);
  }
  const auto differs = [&](std::string_view key, std::size_t own, std::size_t of_target) {
    return error("{}: {} is {} in layer {}, but {} in layer {} of the target {}, whose keys it reads",
                 in.file().name(), in.key(key), own, layer, of_target, source, target.file);
  };
  a.window = slides ? gemma.windows.window : 0;
  // A target's window that covers its context was left out.
  const bool is_left_out = found->window == 0 && target.max_context <= a.window;
  if (found->window != a.window && !is_left_out)
    return differs("attention.sliding_window", a.window, found->window);
  if (found->kv_heads != a.kv_heads) return differs("attention.head_count_kv", a.kv_heads, found->kv_heads);
  if (found->head_dim != a.head_dim)
    return differs(slides ? "attention.key_length_swa" : "attention.key_length", a.head_dim, found->head_dim);
  a.kv_from = source;
  a.kv_of_target = true;
  return {};
}

}  // namespace

/// gemma4-assistant: layers of a Gemma 4 without keys and values, which read those of the target. The first
/// layer's input is a projection of [the target's embedding; state], where the state is the target's final
/// one or a projection of the previous row's final state.
Result<void> read_gemma4_assistant(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter) {
  drafter.kind = "gemma4-assistant";
  ModelSpec& spec = drafter.model;
  SPECTR_TRY_VOID(assistant_keys(in, target));
  SPECTR_TRY(Gemma4 gemma, gemma4_keys(in));
  if (gemma.windows.window == 1) {
    return error("{}: {} is 1, but must be 2 or more: rows attend to earlier tokens only", spec.file,
                 in.key("attention.sliding_window"));
  }
  SPECTR_TRY_VOID(in.end_of_keys());

  spec.embed.tokens = weight_of_target(spec, target, target.embed.tokens);
  spec.embed.scale = target.embed.scale;
  PairSpec& pair = spec.pair.emplace(PairSpec{.token_width = target.width, .state_width = target.width});
  SPECTR_TRY(pair.projection, in.linear("nextn.pre_projection", spec.width, 2 * target.width, may_have_bias));
  SPECTR_TRY(pair.next_state, in.linear("nextn.post_projection", target.width, spec.width, may_have_bias));
  SPECTR_TRY_VOID(gemma4_rotations(in, gemma));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    SPECTR_TRY_VOID(gemma4_layer(in, gemma, i));
    SPECTR_TRY_VOID(read_target_cache(in, gemma, target, i));
  }
  SPECTR_TRY(spec.head.norm, in.norm("output_norm", spec.width, rms_kind, gemma.keys.epsilon));
  SPECTR_TRY(const WeightId tokens, in.matrix("token_embd.weight", spec.vocabulary, spec.width));
  spec.head.output = {tokens, {}, spec.vocabulary, spec.width};
  spec.taps = {{spec.layers.size(), true}};  // before the projection to the state of the next row
  return {};
}

}  // namespace spectr
