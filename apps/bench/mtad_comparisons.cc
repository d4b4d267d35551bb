#include <algorithm>
#include <array>

#include "apps/bench/paper_presets.h"
#include "spectr/base/check.h"

namespace spectr::bench {
namespace {

/// A column of table 13. In all of them γ is 4, for BiLD 10, and MTAD has 8 beams.
struct Hyperparameters {
  std::string_view column;  ///< L or O, for Llama-2 or OPT, and the data set
  std::size_t drafts;       ///< sequences of SpecTr and SpecInfer
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

/// What table 4 prints of one pair of models and one data set.
struct Table4 {
  Row tokens_per_second, joules_per_token, perplexity;
};

/// In the order of table 13.
const std::array<Table4, table13.size()> table4 = {{
    {{{{36.8, .53}, {34.4, .87}, {45.1, 1.32}, {29.7, .40}, {63.0, .20}}},
     {{{6.62, .91}, {7.45, .90}, {5.17, .88}, {9.52, .10}, {3.38, .02}}},
     {{{3.64, .11}, {3.15, .06}, {3.64, .08}, {3.64, .11}, {2.06, .06}}}},
    {{{{33.8, 2.47}, {31.5, 1.87}, {38.0, 2.20}, {32.8, .58}, {55.8, .30}}},
     {{{7.48, .07}, {8.75, .13}, {6.08, .11}, {10.3, 1.49}, {3.61, .03}}},
     {{{5.47, .11}, {4.51, .09}, {5.27, .09}, {5.12, .01}, {3.00, .09}}}},
    {{{{31.6, .35}, {28.8, .20}, {27.7, .29}, {26.5, .49}, {44.1, .25}}},
     {{{6.98, .15}, {7.99, .15}, {7.20, .08}, {7.52, .32}, {4.72, .03}}},
     {{{2.13, .03}, {1.95, .03}, {2.15, .01}, {2.15, .01}, {1.88, .05}}}},
    {{{{35.6, .45}, {38.5, .93}, {28.4, .34}, {31.4, .39}, {49.6, .42}}},
     {{{5.74, .11}, {5.12, .06}, {6.24, .11}, {8.68, 1.83}, {4.03, .02}}},
     {{{3.32, .10}, {2.60, .06}, {3.16, .06}, {3.42, .03}, {2.07, .03}}}},
    {{{{30.7, .18}, {30.5, .21}, {25.0, .31}, {24.6, .06}, {44.2, .99}}},
     {{{7.07, .19}, {7.41, .16}, {8.22, .19}, {7.59, .85}, {4.80, .12}}},
     {{{2.87, .08}, {2.93, .03}, {3.06, .11}, {2.92, .09}, {2.63, .10}}}},
    {{{{31.7, .91}, {30.9, .80}, {23.7, .40}, {25.7, .36}, {43.6, .33}}},
     {{{6.37, .11}, {6.71, .17}, {7.31, .17}, {8.03, .63}, {4.86, .03}}},
     {{{3.97, .06}, {3.74, .09}, {4.04, .07}, {3.92, .34}, {3.17, .06}}}},
    {{{{24.0, .28}, {26.2, .08}, {24.2, .29}, {23.8, .20}, {26.4, .28}}},
     {{{10.75, .02}, {9.84, .07}, {11.0, .08}, {11.0, .76}, {9.01, .07}}},
     {{{2.26, .01}, {2.13, .03}, {2.29, .04}, {2.29, .03}, {1.87, .03}}}},
    {{{{24.6, .30}, {29.9, .55}, {19.8, .13}, {24.1, .10}, {34.4, .46}}},
     {{{15.6, 3.55}, {13.6, 3.07}, {20.1, 2.52}, {16.9, 2.75}, {11.7, 2.36}}},
     {{{2.30, .07}, {1.90, .01}, {2.20, .09}, {2.21, .01}, {1.63, .03}}}},
    {{{{23.0, 1.10}, {23.7, 1.43}, {19.1, 2.71}, {23.7, 2.03}, {29.4, 2.71}}},
     {{{7.99, .26}, {7.40, .19}, {9.27, .54}, {9.20, .73}, {6.71, 1.19}}},
     {{{3.64, .51}, {3.44, .76}, {3.64, .51}, {3.63, .50}, {2.21, .18}}}},
    {{{{34.0, 3.00}, {44.7, 2.92}, {28.7, 2.46}, {28.5, 2.74}, {48.0, 1.80}}},
     {{{12.1, .36}, {6.23, .67}, {12.9, 1.73}, {13.2, 1.88}, {6.11, .82}}},
     {{{2.02, .40}, {1.50, .27}, {1.97, .38}, {1.99, .33}, {1.10, .03}}}},
}};

/// Table 5: tokens per iteration in the mean over data sets.
constexpr Row table5_llama = {{{2.02, .05}, {1.83, .10}, {2.73, .43}, {2.74, .46}, {3.17, .43}}};
constexpr Row table5_opt = {{{2.60, .06}, {2.68, .36}, {3.45, .42}, {3.45, .40}, {4.30, .03}}};

/// Table 9, in the mean over data sets.
constexpr Table4 table9_llama = {{{{8.37, 3.07}, {8.64, 3.50}, {9.11, 3.03}, {8.87, 2.82}, {9.53, 3.29}}},
                                 {{{138, 87.7}, {142, 99.7}, {122, 66.4}, {125, 65.4}, {119, 67.7}}},
                                 {{{1.77, .22}, {1.69, .25}, {1.73, .24}, {1.73, .24}, {1.52, .19}}}};
constexpr Table4 table9_opt = {{{{15.3, 1.64}, {14.5, 1.96}, {17.0, 4.14}, {17.4, 4.00}, {19.5, 4.11}}},
                               {{{72.4, 11.5}, {79.6, 3.03}, {68.2, 16.7}, {62.4, 10.3}, {60.0, 12.8}}},
                               {{{4.74, 1.96}, {3.50, 1.42}, {4.55, 1.93}, {4.49, 1.95}, {2.74, .87}}}};

constexpr std::string_view compared = "speculative decoding, BiLD, SpecTr, SpecInfer and MTAD";
constexpr std::string_view pairs =
    "Llama-68M for Llama-2-13B (L), OPT-125M for OPT-13B (O); ChatGPT-Prompts (CP), ChatAlpaca (CA), "
    "CNN/DailyMail (CD), Spider (SP), MT-bench (MT)";

/// The five methods with the settings of a column of table 13.
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

/// The five methods on ten pairs of models and data sets, as tables 4, 5 and 13 have them.
Preset ten_columns(std::string_view name, std::string_view source, std::string_view summary) {
  Preset preset{.name = name,
                .source = source,
                .summary = summary,
                .models = pairs,
                .repeats = 4,
                .relative_to = "speculative"};
  for (const Hyperparameters& column : table13)
    preset.columns.push_back(comparison(column.column, column.column));
  return preset;
}

Preset with_table4() {
  Preset preset = ten_columns("mtad-table4", "MTAD, table 4", compared);
  for (std::size_t i = 0; i < table4.size(); ++i) preset.columns[i].printed = printed_of(table4[i]);
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

}  // namespace spectr::bench
