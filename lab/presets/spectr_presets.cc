#include "lab/presets/paper_presets.h"

namespace spectr::lab {
namespace {

using namespace bench;

/// SpecTr samples at temperature 1, without filters.
const WarpOptions warp = WarpOptions::none();

Printed efficiency(const PaperValue& value) {
  return {.block_efficiency = value};
}

Printed efficiency_and_speedup(PrintedNumber efficiency, PrintedNumber speedup) {
  return {.block_efficiency = PaperValue{efficiency}, .speedup = PaperValue{speedup}};
}

Preset table1() {
  return {
      .name = "spectr-table1",
      .source = "SpecTr, table 1",
      .summary = "speculative decoding and SpecTr with 8 drafts",
      .models =
          "PaLM-2 Gecko drafts for Bison (not public); LM1B, of statmt.org: --prompts LM1B=FILE "
          "--prefix-words N",
      .prompts = 1000,
      .repeats = 3,
      .columns = {{.warp = warp,
                   .axes = {{.methods = {"plain"}},
                            {.methods = {"speculative"}, .lengths = {4, 8}},
                            {.methods = {"spectr"}, .drafts = {8}, .lengths = {4, 8}}},
                   .printed = {efficiency_and_speedup(1.0_p, 1.0_p), efficiency_and_speedup(2.4_p, 1.67_p),
                               efficiency_and_speedup(2.9_p, 1.56_p), efficiency_and_speedup(3.1_p, 2.08_p),
                               efficiency_and_speedup(4.0_p, 2.13_p)}}},
      .relative_to = "speculative"};
}

std::vector<PrintedPass> relative(const PaperValue (&values)[8]) {
  std::vector<PrintedPass> all;
  for (const PaperValue& value : values) all.push_back({.relative = value});
  return all;
}

const BatchSettings batches{.lengths = {4, 8}, .batches = {1, 2, 4, 8}, .runs = 1000};

Preset table2() {
  return {.name = "spectr-table2",
          .source = "SpecTr, table 2",
          .summary = "what a pass of the target costs for draft lengths and batches, relative to the first",
          .models = "a transformer of 97M parameters on a GPU",
          .passes = PassTable{batches, relative({{1.00_p, .16_p},
                                                 {1.01_p, .15_p},
                                                 {1.06_p, .10_p},
                                                 {1.10_p, .16_p},
                                                 {1.01_p, .18_p},
                                                 {1.09_p, .25_p},
                                                 {1.10_p, .09_p},
                                                 {1.42_p, .4_p}})}};
}

Preset table3() {
  return {.name = "spectr-table3",
          .source = "SpecTr, table 3",
          .summary = "the same of a draft model, relative to the target's first pass",
          .models = "a draft of 6M parameters, a target of 97M, on a GPU",
          .passes = PassTable{batches,
                              {},
                              relative({{.18_p, .02_p},
                                        {.19_p, .04_p},
                                        {.18_p, .09_p},
                                        {.20_p, .13_p},
                                        {.17_p, .04_p},
                                        {.19_p, .05_p},
                                        {.16_p, .02_p},
                                        {.18_p, .04_p}})}};
}

/// Returns the block efficiencies of one draft model: speculative decoding for L = 4 and 8, then SpecTr for
/// K = 2, 4, 8 at L = 4, and at L = 8.
Column table4_column(std::string_view draft, const PaperValue (&speculative)[2],
                     const PaperValue (&spectr)[6]) {
  Column column{.name = draft,
                .warp = warp,
                .axes = {{.methods = {"plain"}},
                         {.methods = {"speculative"}, .lengths = {4, 8}},
                         {.methods = {"spectr"}, .drafts = {2, 4, 8}, .lengths = {4, 8}}},
                .printed = {{.block_efficiency = PaperValue{1.0_p}}}};
  for (const PaperValue& value : speculative) column.printed.push_back(efficiency(value));
  for (const PaperValue& value : spectr) column.printed.push_back(efficiency(value));
  return column;
}

Preset table4() {
  return {.name = "spectr-table4",
          .source = "SpecTr, table 4",
          .summary = "block efficiency for K, L and three draft models; one column for each",
          .models =
              "a transformer of 97M parameters, drafts of 2M, 6M and 20M, trained on LM1B (not public); "
              "LM1B, of statmt.org: --prompts LM1B=FILE --prefix-words N",
          .prompts = 1000,
          .repeats = 3,
          .columns = {table4_column("2M", {{1.86_p, .02_p}, {1.91_p, .01_p}},
                                    {{2.07_p, .01_p},
                                     {2.32_p, .00_p},
                                     {2.56_p, .01_p},
                                     {2.15_p, .01_p},
                                     {2.41_p, .00_p},
                                     {2.68_p, .01_p}}),
                      table4_column("6M", {{2.21_p, .01_p}, {2.33_p, .01_p}},
                                    {{2.43_p, .01_p},
                                     {2.74_p, .01_p},
                                     {2.99_p, .02_p},
                                     {2.61_p, .02_p},
                                     {2.96_p, .03_p},
                                     {3.27_p, .02_p}}),
                      table4_column("20M", {{2.71_p, .01_p}, {3.12_p, .02_p}},
                                    {{2.96_p, .00_p},
                                     {3.28_p, .02_p},
                                     {3.49_p, .03_p},
                                     {3.48_p, .04_p},
                                     {3.85_p, .05_p},
                                     {4.15_p, .04_p}})},
          .relative_to = "speculative",
          .usual_column = 1,
          .column_per_draft = true};
}

}  // namespace

std::vector<Preset> spectr_presets() {
  return {table1(), table2(), table3(), table4()};
}

}  // namespace spectr::lab
