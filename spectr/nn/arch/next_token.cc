#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/drafters/drafters.h"
#include "spectr/nn/part_weights.h"

namespace spectr {
namespace {

// Families whose next-token blocks are like their layers.
constexpr std::array<std::string_view, 4> families_with_next_tokens = {"qwen35", "qwen35moe", "glm4moe",
                                                                       "deepseek2"};

Result<std::string> architecture_key(const Gguf& file, std::string_view name) {
  SPECTR_TRY(const std::string_view architecture, file.string("general.architecture"));
  return std::string(architecture) + "." + std::string(name);
}

/// Reads the tensors blk.L.nextn.*, which replace the model's input and head.
Result<void> read_next_token_parts(ArchReader& in, std::size_t layer) {
  constexpr auto bias = ArchReader::Bias::optional;
  ModelSpec& spec = in.spec();
  const auto name = [layer](std::string_view part) { return block(layer, "nextn.") + std::string(part); };
  const float epsilon = spec.head.norm->epsilon;
  const auto norm = [&](std::string_view part) {
    return in.norm(name(part), spec.width, NormSpec::Kind::rms, epsilon);
  };
  PairSpec& pair = spec.pair.emplace(PairSpec{.token_width = spec.width, .state_width = spec.width});
  SPECTR_TRY(pair.token_norm, norm("enorm"));
  SPECTR_TRY(pair.state_norm, norm("hnorm"));
  SPECTR_TRY(pair.projection, in.linear(name("eh_proj"), spec.width, 2 * spec.width, bias));
  if (in.has_tensor(name("embed_tokens.weight"))) {
    SPECTR_TRY(spec.embed.tokens, in.matrix(name("embed_tokens.weight"), spec.vocabulary, spec.width));
  }
  if (in.has_tensor(name("shared_head_norm.weight"))) {
    SPECTR_TRY(spec.head.norm, norm("shared_head_norm"));
  }
  if (in.has_tensor(name("shared_head_head.weight"))) {
    SPECTR_TRY(spec.head.output, in.linear(name("shared_head_head"), spec.vocabulary, spec.width, bias));
  }
  return {};
}

}  // namespace

bool has_next_token_layer(const Gguf& file) {
  const auto architecture = file.string("general.architecture", "");
  if (!architecture ||
      std::ranges::find(families_with_next_tokens, *architecture) == families_with_next_tokens.end())
    return false;
  const auto count = file.integer(std::string(*architecture) + ".nextn_predict_layers", 0);
  return count && *count > 0;
}

Result<TapSettings> next_token_taps(const Gguf& file) {
  SPECTR_TRY(const std::string blocks_key, architecture_key(file, "block_count"));
  SPECTR_TRY(const std::string further_key, architecture_key(file, "nextn_predict_layers"));
  SPECTR_TRY(const std::uint64_t blocks, file.integer(blocks_key));
  SPECTR_TRY(const std::uint64_t further, file.integer(further_key));
  if (further != 1 || blocks < 2) {
    return error(ErrorCode::unsupported, "{}: {} is {} of {} blocks, but one layer is supported", file.name(),
                 further_key, further, blocks);
  }
  return TapSettings{{{static_cast<std::size_t>(blocks - further), true}},
                     fmt::format("{}: {}", file.name(), further_key)};
}

/// Fails if the layer, which may be in a file of its own, was made for another model than the target.
Result<void> is_layer_of(const ModelSpec& drafter, const TapSettings& taps, const ModelSpec& target) {
  if (drafter.architecture != target.architecture) {
    return error("{}: general.architecture is {}, but that of the target {} is {}", drafter.file,
                 drafter.architecture, target.file, target.architecture);
  }
  const auto differs = [&](std::string_view what, std::size_t own, std::size_t of_target) -> Result<void> {
    if (own == of_target) return {};
    return error("{}: {} is {}, but the target {} has {}", drafter.file, what, own, target.file, of_target);
  };
  const std::string prefix = drafter.architecture + ".";
  SPECTR_TRY_VOID(differs(prefix + "block_count without next-token layers", taps.taps.front().layer,
                          target.layers.size()));
  SPECTR_TRY_VOID(differs(prefix + "embedding_length", drafter.width, target.width));
  return differs("the number of tokens", drafter.vocabulary, target.vocabulary);
}

/// Reads a layer that predicts further tokens (arXiv 2404.19737, 2412.19437): one of the model's kind on
/// eh_proj [norm(embedding); norm(state)], where the state is the target's final one or the previous row's.
Result<DrafterSpec> read_next_token_layer(const Gguf& file, const ModelSpec& target) {
  DrafterSpec drafter{};
  drafter.kind = "mtp";
  SPECTR_TRY(const TapSettings taps, next_token_taps(file));
  drafter.taps = taps.taps;
  const RopeChoice as_stated{};
  SPECTR_TRY(drafter.model, read_all_blocks(file, as_stated));
  ModelSpec& spec = drafter.model;
  SPECTR_TRY_VOID(is_layer_of(spec, taps, target));
  ArchReader in(file, spec.architecture, as_stated, spec);
  SPECTR_TRY_VOID(read_next_token_parts(in, target.layers.size()));
  spec.layers = {std::move(spec.layers.back())};
  spec.taps = {{1, true}};  // state of the next row
  spec.context = target.context;
  spec.max_context = target.max_context;
  const ModelSpec whole = spec;
  PartWeights kept(whole);
  kept.keep(spec.embed.tokens);
  kept.keep(spec.pair->token_norm);
  kept.keep(spec.pair->state_norm);
  kept.keep(spec.pair->projection);
  kept.keep(spec.layers);
  kept.keep(spec.head.norm);
  kept.keep(spec.head.output);
  spec.weights = kept.take();
  // Features of the target's other layers are not required.
  std::erase_if(spec.requirements, [](const Requirement& one) {
    return one.feature == Feature::recurrent_mixer || one.feature == Feature::sliding_window;
  });
  spec.requirements.push_back({Feature::drafter_inputs, taps.source});
  return drafter;
}

}  // namespace spectr
