#include "apps/bench/paper_presets.h"

namespace spectr::bench {
namespace {

/// SpecTr samples at temperature 1, without filters.
const WarpOptions warp = WarpOptions::none();

Printed efficiency(double mean, double sd) {
  return {.block_efficiency = PaperValue{mean, sd}};
}

Printed efficiency_and_speedup(double efficiency, double speedup) {
  return {.block_efficiency = PaperValue{efficiency}, .speedup = PaperValue{speedup}};
}

Preset table1() {
  return {.name = "spectr-table1",
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
                       .printed = {efficiency_and_speedup(1.0, 1.0), efficiency_and_speedup(2.4, 1.67),
                                   efficiency_and_speedup(2.9, 1.56), efficiency_and_speedup(3.1, 2.08),
                                   efficiency_and_speedup(4.0, 2.13)}}},
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
          .passes = PassTable{batches, relative({{1.00, .16},
                                                 {1.01, .15},
                                                 {1.06, .10},
                                                 {1.10, .16},
                                                 {1.01, .18},
                                                 {1.09, .25},
                                                 {1.10, .09},
                                                 {1.42, .4}})}};
}

Preset table3() {
  return {.name = "spectr-table3",
          .source = "SpecTr, table 3",
          .summary = "the same of a draft model, relative to the target's first pass",
          .models = "a draft of 6M parameters, a target of 97M, on a GPU",
          .passes = PassTable{batches,
                              {},
                              relative({{.18, .02},
                                        {.19, .04},
                                        {.18, .09},
                                        {.20, .13},
                                        {.17, .04},
                                        {.19, .05},
                                        {.16, .02},
                                        {.18, .04}})}};
}

/// Block efficiencies of one draft model: of speculative decoding for L = 4 and 8, then of SpecTr for
/// K = 2, 4, 8 at L = 4, and at L = 8.
Column table4_column(std::string_view draft, const PaperValue (&speculative)[2],
                     const PaperValue (&spectr)[6]) {
  Column column{.name = draft,
                .warp = warp,
                .axes = {{.methods = {"plain"}},
                         {.methods = {"speculative"}, .lengths = {4, 8}},
                         {.methods = {"spectr"}, .drafts = {2, 4, 8}, .lengths = {4, 8}}},
                .printed = {{.block_efficiency = PaperValue{1.0}}}};
  for (const PaperValue& value : speculative) column.printed.push_back(efficiency(value.mean, *value.sd));
  for (const PaperValue& value : spectr) column.printed.push_back(efficiency(value.mean, *value.sd));
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
          .columns =
              {table4_column("2M", {{1.86, .02}, {1.91, .01}},
                             {{2.07, .01}, {2.32, .00}, {2.56, .01}, {2.15, .01}, {2.41, .00}, {2.68, .01}}),
               table4_column("6M", {{2.21, .01}, {2.33, .01}},
                             {{2.43, .01}, {2.74, .01}, {2.99, .02}, {2.61, .02}, {2.96, .03}, {3.27, .02}}),
               table4_column("20M", {{2.71, .01}, {3.12, .02}},
                             {{2.96, .00}, {3.28, .02}, {3.49, .03}, {3.48, .04}, {3.85, .05}, {4.15, .04}})},
          .relative_to = "speculative",
          .usual_column = 1,
          .column_per_draft = true};
}

}  // namespace

std::vector<Preset> spectr_presets() {
  return {table1(), table2(), table3(), table4()};
}

}  // namespace spectr::bench
