#include <vector>

#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_kernel = state_grid, max_window = 1 << 24;

/// Layers without key heads have a short convolution instead of attention. All others have the window, if
/// there is one.
Result<void> read_lfm2_with(ArchReader& in, const std::optional<ExpertKeys>& experts) {
  SPECTR_TRY(const std::size_t kernel, in.count("shortconv.l_cache", max_kernel));
  in.require_if(true, Feature::short_convolution, "shortconv.l_cache");
  SPECTR_TRY(const std::size_t window, in.count_or_none("attention.sliding_window", max_window));
  in.require_if(window > 0, Feature::sliding_window, "attention.sliding_window");
  const auto convolution = [&in, kernel](std::size_t layer, const DecoderKeys& keys) -> Result<bool> {
    if (keys.kv_heads[layer] > 0) return false;
    const std::size_t width = in.spec().width;
    ShortConvolutionSpec spec{};
    spec.kernel = kernel;
    const auto name = [layer](std::string_view part) { return block(layer, part); };
    SPECTR_TRY(spec.in, in.linear(name("shortconv.in_proj"), 3 * width, width, ArchReader::Bias::optional));
    SPECTR_TRY(spec.out, in.linear(name("shortconv.out_proj"), width, width, ArchReader::Bias::optional));
    SPECTR_TRY(spec.weight, in.table(name("shortconv.conv.weight"), width, kernel));
    in.spec().layers[layer].mixer = spec;
    return true;
  };
  SPECTR_TRY_VOID(gated_decoder(in, {.pairs = RopePairs::halves,
                                     .beside = head_norms,
                                     .experts = experts,
                                     .rules = {.layers_without_attention = true},
                                     .output_norm = "token_embd_norm",
                                     .other_mixer = convolution}));
  if (window == 0) return {};
  const std::vector<bool> everywhere(in.spec().layers.size(), true);
  const WindowKeys all{.window = window, .period = 1, .pattern = everywhere, .base = {}};
  for (std::size_t i = 0; i < in.spec().layers.size(); ++i) {
    if (AttentionSpec* attention = in.spec().layers[i].attention()) attention->window = window_of(in, all, i);
  }
  return {};
}

}  // namespace

/// lfm2: like qwen3, but most layers have a short convolution instead of attention.
Result<void> read_lfm2(ArchReader& in) {
  return read_lfm2_with(in, {});
}

/// lfm2moe: like lfm2, with experts after the first layers, chosen by sigmoids with a bias.
Result<void> read_lfm2moe(ArchReader& in) {
  SPECTR_TRY(const ExpertKeys experts, expert_keys(in, ExpertsSpec::Gating::sigmoid, true));
  return read_lfm2_with(in, experts);
}

}  // namespace spectr
