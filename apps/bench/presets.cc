#include "apps/bench/presets.h"

#include <algorithm>
#include <string>

#include "spectr/base/names.h"

namespace spectr::bench {
namespace {

/// SpecTr (arXiv 2310.15141) samples at temperature 1, without filters.
const WarpOptions spectr_warp = WarpOptions::none();

/// MTAD (arXiv 2407.09722), table 13: top-k 20, top-p 0.9.
WarpOptions mtad_warp() {
  WarpOptions warp = WarpOptions::none();
  warp.top_k = 20;
  warp.top_p = 0.9;
  return warp;
}

/// Table 13: γ = 4, 4 sequences for SpecTr and SpecInfer, 8 beams and τ = 0.1 for MTAD, τ₁ = 0.9 and τ₂ = 2
/// for BiLD.
MethodOptions mtad_settings() {
  MethodOptions settings;
  settings.drafts = 4;
  settings.length = 4;
  settings.beams = 8;
  settings.tau = 0.1;
  settings.bild_fallback = 0.9;
  settings.bild_rollback = 2.0;
  return settings;
}

const Axes bild{.methods = {"bild"}, .lengths = {10}};  // table 13: γ = 10 for BiLD alone
const Axes lossless{.methods = {"plain", "speculative", "spectr", "specinfer"}};
const Axes mtad{.methods = {"mtad"}};

Preset compare_mtad(std::string_view name, std::string_view summary, std::vector<Axes> axes) {
  return {name, summary, mtad_warp(), mtad_settings(), std::move(axes)};
}

// Where a table differs from another in the models or the data alone, the presets are the same: give -m, -md
// and --prompts.
const std::vector<Preset> all = {
    {"spectr-table1",
     "SpecTr, table 1: speculative decoding and SpecTr for K and L",
     spectr_warp,
     {},
     {{.methods = {"plain", "speculative", "spectr"}, .drafts = {1, 2, 4, 8}, .lengths = {4, 8}}}},
    {"spectr-table4",
     "SpecTr, table 4: block efficiency of SpecTr for K and L, and for every -md",
     spectr_warp,
     {},
     {{.methods = {"spectr"}, .drafts = {1, 2, 4, 8}, .lengths = {4, 8}}}},
    {"mtad-table2",
     "MTAD, table 2: passes of several widths",
     mtad_warp(),
     mtad_settings(),
     {},
     {1, 2, 4, 8, 16}},
    compare_mtad("mtad-table3", "MTAD's comparison of methods: perplexity, speed, energy",
                 {lossless, bild, mtad}),
    compare_mtad("mtad-table4", "the same, for other models or data", {lossless, bild, mtad}),
    compare_mtad("mtad-table5", "joint decoding in the target against MTAD and plain decoding",
                 {{.methods = {"plain", "mtjd", "mtad"}}}),
    compare_mtad("mtad-table6", "MTAD for numbers of beams",
                 {{.methods = {"plain"}}, {.methods = {"mtad"}, .beams = {1, 2, 4, 8, 16}}}),
    compare_mtad(
        "mtad-table7", "MTAD for thresholds",
        {{.methods = {"plain"}}, {.methods = {"mtad"}, .taus = {0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9}}}),
    compare_mtad("mtad-table9", "the comparison, for other models or data", {lossless, bild, mtad}),
    compare_mtad("mtad-table10", "the comparison, for other models or data", {lossless, bild, mtad}),
    compare_mtad("mtad-figure1", "joint decoding in the target for lengths",
                 {{.methods = {"plain"}}, {.methods = {"mtjd"}, .lengths = {1, 2, 4, 8}}}),
    compare_mtad(
        "mtad-figure3", "all methods for draft lengths",
        {{.methods = {"plain", "speculative", "spectr", "specinfer", "mtad"}, .lengths = {2, 4, 6, 8}},
         bild}),
};

}  // namespace

std::span<const Preset> presets() {
  return all;
}

Result<const Preset*> find_preset(std::string_view name) {
  return find_named(all, "preset", name);
}

}  // namespace spectr::bench
