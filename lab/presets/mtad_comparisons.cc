#include <algorithm>
#include <array>

#include "lab/presets/paper_presets.h"
#include "spectr/base/check.h"

namespace spectr::lab {
namespace {

using namespace bench;

/// A column of table 13. In all columns γ is 4, or 10 for BiLD, and MTAD has 8 beams.
struct Hyperparameters {
  std::string_view column;  ///< L (Llama-2) or O (OPT), and the data set
  std::size_t drafts;       ///< number of sequences of SpecTr and SpecInfer
  double fallback, rollback, tau;
};

constexpr auto table13 = std::to_array<Hyperparameters>({{"L,CP", 4, .9, 2, .1},
                                                         {"O,CP", 4, .9, 2, .1},
                                                         {"L,CA", 2, .9, 1, .1},
                                                         {"O,CA", 2, .3, 2, .1},
                                                         {"L,CD", 4, .9, 3, .1},
                                                         {"O,CD", 2, .3, 2, .1},
                                                         {"L,SP", 2, .9, 1, .9},
                                                         {"O,SP", 2, .9, 1, .1},
                                                         {"L,MT", 2, .9, 1, .9},
                                                         {"O,MT", 2, .9, 1, .1}});

constexpr std::size_t methods = 5;  // speculative, BiLD, SpecTr, SpecInfer, MTAD
using Row = std::array<PaperValue, methods>;

/// The values of table 4 for one pair of models and one data set.
struct Table4 {
  Row tokens_per_second, joules_per_token, perplexity;
};

/// The columns are in the order of table 13.
const std::array<Table4, table13.size()> mtad_table4 = {{
    {{{{36.8_p, .53_p}, {34.4_p, .87_p}, {45.1_p, 1.32_p}, {29.7_p, .40_p}, {63.0_p, .20_p}}},
     {{{6.62_p, .91_p}, {7.45_p, .90_p}, {5.17_p, .88_p}, {9.52_p, .10_p}, {3.38_p, .02_p}}},
     {{{3.64_p, .11_p}, {3.15_p, .06_p}, {3.64_p, .08_p}, {3.64_p, .11_p}, {2.06_p, .06_p}}}},
    {{{{33.8_p, 2.47_p}, {31.5_p, 1.87_p}, {38.0_p, 2.20_p}, {32.8_p, .58_p}, {55.8_p, .30_p}}},
     {{{7.48_p, .07_p}, {8.75_p, .13_p}, {6.08_p, .11_p}, {10.3_p, 1.49_p}, {3.61_p, .03_p}}},
     {{{5.47_p, .11_p}, {4.51_p, .09_p}, {5.27_p, .09_p}, {5.12_p, .01_p}, {3.00_p, .09_p}}}},
    {{{{31.6_p, .35_p}, {28.8_p, .20_p}, {27.7_p, .29_p}, {26.5_p, .49_p}, {44.1_p, .25_p}}},
     {{{6.98_p, .15_p}, {7.99_p, .15_p}, {7.20_p, .08_p}, {7.52_p, .32_p}, {4.72_p, .03_p}}},
     {{{2.13_p, .03_p}, {1.95_p, .03_p}, {2.15_p, .01_p}, {2.15_p, .01_p}, {1.88_p, .05_p}}}},
    {{{{35.6_p, .45_p}, {38.5_p, .93_p}, {28.4_p, .34_p}, {31.4_p, .39_p}, {49.6_p, .42_p}}},
     {{{5.74_p, .11_p}, {5.12_p, .06_p}, {6.24_p, .11_p}, {8.68_p, 1.83_p}, {4.03_p, .02_p}}},
     {{{3.32_p, .10_p}, {2.60_p, .06_p}, {3.16_p, .06_p}, {3.42_p, .03_p}, {2.07_p, .03_p}}}},
    {{{{30.7_p, .18_p}, {30.5_p, .21_p}, {25.0_p, .31_p}, {24.6_p, .06_p}, {44.2_p, .99_p}}},
     {{{7.07_p, .19_p}, {7.41_p, .16_p}, {8.22_p, .19_p}, {7.59_p, .85_p}, {4.80_p, .12_p}}},
     {{{2.87_p, .08_p}, {2.93_p, .03_p}, {3.06_p, .11_p}, {2.92_p, .09_p}, {2.63_p, .10_p}}}},
    {{{{31.7_p, .91_p}, {30.9_p, .80_p}, {23.7_p, .40_p}, {25.7_p, .36_p}, {43.6_p, .33_p}}},
     {{{6.37_p, .11_p}, {6.71_p, .17_p}, {7.31_p, .17_p}, {8.03_p, .63_p}, {4.86_p, .03_p}}},
     {{{3.97_p, .06_p}, {3.74_p, .09_p}, {4.04_p, .07_p}, {3.92_p, .34_p}, {3.17_p, .06_p}}}},
    {{{{24.0_p, .28_p}, {26.2_p, .08_p}, {24.2_p, .29_p}, {23.8_p, .20_p}, {26.4_p, .28_p}}},
     {{{10.75_p, .02_p}, {9.84_p, .07_p}, {11.0_p, .08_p}, {11.0_p, .76_p}, {9.01_p, .07_p}}},
     {{{2.26_p, .01_p}, {2.13_p, .03_p}, {2.29_p, .04_p}, {2.29_p, .03_p}, {1.87_p, .03_p}}}},
    {{{{24.6_p, .30_p}, {29.9_p, .55_p}, {19.8_p, .13_p}, {24.1_p, .10_p}, {34.4_p, .46_p}}},
     {{{15.6_p, 3.55_p}, {13.6_p, 3.07_p}, {20.1_p, 2.52_p}, {16.9_p, 2.75_p}, {11.7_p, 2.36_p}}},
     {{{2.30_p, .07_p}, {1.90_p, .01_p}, {2.20_p, .09_p}, {2.21_p, .01_p}, {1.63_p, .03_p}}}},
    {{{{23.0_p, 1.10_p}, {23.7_p, 1.43_p}, {19.1_p, 2.71_p}, {23.7_p, 2.03_p}, {29.4_p, 2.71_p}}},
     {{{7.99_p, .26_p}, {7.40_p, .19_p}, {9.27_p, .54_p}, {9.20_p, .73_p}, {6.71_p, 1.19_p}}},
     {{{3.64_p, .51_p}, {3.44_p, .76_p}, {3.64_p, .51_p}, {3.63_p, .50_p}, {2.21_p, .18_p}}}},
    {{{{34.0_p, 3.00_p}, {44.7_p, 2.92_p}, {28.7_p, 2.46_p}, {28.5_p, 2.74_p}, {48.0_p, 1.80_p}}},
     {{{12.1_p, .36_p}, {6.23_p, .67_p}, {12.9_p, 1.73_p}, {13.2_p, 1.88_p}, {6.11_p, .82_p}}},
     {{{2.02_p, .40_p}, {1.50_p, .27_p}, {1.97_p, .38_p}, {1.99_p, .33_p}, {1.10_p, .03_p}}}},
}};

/// Table 5: tokens per iteration, mean over data sets.
constexpr Row table5_llama = {
    {{2.02_p, .05_p}, {1.83_p, .10_p}, {2.73_p, .43_p}, {2.74_p, .46_p}, {3.17_p, .43_p}}};
constexpr Row table5_opt = {
    {{2.60_p, .06_p}, {2.68_p, .36_p}, {3.45_p, .42_p}, {3.45_p, .40_p}, {4.30_p, .03_p}}};

/// Table 9: means over data sets.
constexpr Table4 table9_llama = {
    {{{8.37_p, 3.07_p}, {8.64_p, 3.50_p}, {9.11_p, 3.03_p}, {8.87_p, 2.82_p}, {9.53_p, 3.29_p}}},
    {{{138_p, 87.7_p}, {142_p, 99.7_p}, {122_p, 66.4_p}, {125_p, 65.4_p}, {119_p, 67.7_p}}},
    {{{1.77_p, .22_p}, {1.69_p, .25_p}, {1.73_p, .24_p}, {1.73_p, .24_p}, {1.52_p, .19_p}}}};
constexpr Table4 table9_opt = {
    {{{15.3_p, 1.64_p}, {14.5_p, 1.96_p}, {17.0_p, 4.14_p}, {17.4_p, 4.00_p}, {19.5_p, 4.11_p}}},
    {{{72.4_p, 11.5_p}, {79.6_p, 3.03_p}, {68.2_p, 16.7_p}, {62.4_p, 10.3_p}, {60.0_p, 12.8_p}}},
    {{{4.74_p, 1.96_p}, {3.50_p, 1.42_p}, {4.55_p, 1.93_p}, {4.49_p, 1.95_p}, {2.74_p, .87_p}}}};

constexpr std::string_view compared = "speculative decoding, BiLD, SpecTr, SpecInfer and MTAD";
constexpr std::string_view pairs =
    "Llama-68M for Llama-2-13B (L), OPT-125M for OPT-13B (O); ChatGPT-Prompts (CP), ChatAlpaca (CA), "
    "CNN/DailyMail (CD), Spider (SP), MT-bench (MT)";

/// Returns the five methods with the settings of a column of table 13.
Column comparison(std::string_view name, std::string_view settings, std::vector<Printed> printed = {}) {
  return {.name = name,
          .warp = mtad_warp(),
          .settings = mtad_settings(settings),
          .axes = {{.methods = {"speculative"}},
                   {.methods = {"bild"}, .lengths = {10}},
                   {.methods = {"spectr", "specinfer", "mtad"}}},
          .printed = std::move(printed)};
}

std::vector<Printed> printed_of(const Table4& table) {
  std::vector<Printed> all;
  for (std::size_t i = 0; i < methods; ++i) {
    all.push_back({.tokens_per_second = table.tokens_per_second[i],
                   .joules_per_token = table.joules_per_token[i],
                   .perplexity = table.perplexity[i]});
  }
  return all;
}

std::vector<Printed> printed_of(const Row& efficiencies) {
  std::vector<Printed> all;
  for (const PaperValue& value : efficiencies) all.push_back({.block_efficiency = value});
  return all;
}

/// Returns the five methods on ten pairs of models and data sets, as in tables 4, 5 and 13.
Preset ten_columns(std::string_view name, std::string_view source, std::string_view summary) {
  Preset preset{.name = name,
                .source = source,
                .summary = summary,
                .models = pairs,
                .repeats = 4,
                .seconds = time_budget,
                .relative_to = "speculative"};
  for (const Hyperparameters& column : table13)
    preset.columns.push_back(comparison(column.column, column.column));
  return preset;
}

Preset with_table4() {
  Preset preset = ten_columns("mtad-table4", "MTAD, table 4", compared);
  for (std::size_t i = 0; i < mtad_table4.size(); ++i) preset.columns[i].printed = printed_of(mtad_table4[i]);
  using enum ClaimedRatio::Of;  // abstract and section 5.1
  preset.claims = {{speed, "mtad", "speculative", 1.42_p},
                   {energy, "mtad", "speculative", 1.54_p},
                   {speed, "mtad", "bild", 1.38_p},
                   {speed, "mtad", "spectr", 1.59_p},
                   {speed, "mtad", "specinfer", 1.60_p}};
  return preset;
}

Preset with_table5() {
  Preset preset =
      ten_columns("mtad-table5", "MTAD, table 5",
                  "tokens per iteration of table 4's methods; the paper's are means over the data sets");
  for (Column& column : preset.columns)
    column.printed = printed_of(column.name.starts_with('L') ? table5_llama : table5_opt);
  return preset;
}

Preset with_table9() {
  return {.name = "mtad-table9",
          .source = "MTAD, table 9",
          .summary = "table 4's methods on larger models; the paper's are means over the data sets",
          .models =
              "Llama-2-Chat-7B for -70B (L), OPT-350M for OPT-30B (O); all data sets of table 4; their "
              "settings are not printed: those of L,CP",
          .repeats = 4,
          .seconds = time_budget,
          .columns = {comparison("L", "L,CP", printed_of(table9_llama)),
                      comparison("O", "L,CP", printed_of(table9_opt))},
          .relative_to = "speculative"};
}

Preset with_table13() {
  Preset preset = ten_columns("mtad-table13", "MTAD, table 13", "the hyper-parameters: all ten columns");
  preset.all_columns = true;
  return preset;
}

}  // namespace

MethodOptions mtad_settings(std::string_view column) {
  const auto found = std::ranges::find(table13, column, &Hyperparameters::column);
  SPECTR_CHECK(found != table13.end());
  MethodOptions settings;
  settings.drafts = found->drafts;
  settings.length = 4;
  settings.beams = 8;
  settings.tau = found->tau;
  settings.bild_fallback = found->fallback;
  settings.bild_rollback = found->rollback;
  return settings;
}

std::vector<Preset> mtad_comparisons() {
  return {with_table4(), with_table5(), with_table9(), with_table13()};
}

}  // namespace spectr::lab
