#include "lab/presets/paper_presets.h"

namespace spectr::lab {
namespace {

using namespace bench;

Printed speed_energy(PrintedNumber tokens_per_second, PrintedNumber joules_per_token) {
  return {.tokens_per_second = PaperValue{tokens_per_second},
          .joules_per_token = PaperValue{joules_per_token}};
}

Printed speed_energy_perplexity(PrintedNumber tokens_per_second, PrintedNumber joules_per_token,
                                PrintedNumber perplexity) {
  Printed printed = speed_energy(tokens_per_second, joules_per_token);
  printed.perplexity = PaperValue{perplexity};
  return printed;
}

Printed perplexity_speed(PrintedNumber perplexity, PrintedNumber tokens_per_second) {
  return {.tokens_per_second = PaperValue{tokens_per_second}, .perplexity = PaperValue{perplexity}};
}

Printed score_speed(PrintedNumber score, PrintedNumber tokens_per_second) {
  return {.tokens_per_second = PaperValue{tokens_per_second}, .score = PaperValue{score}};
}

Printed perplexity_score(PrintedNumber perplexity, PrintedNumber score) {
  return {.perplexity = PaperValue{perplexity}, .score = PaperValue{score}};
}

PrintedPass pass(PrintedNumber joules, PrintedNumber joules_per_run, PrintedNumber joules_per_input,
                 PrintedNumber seconds, PrintedNumber seconds_per_run, PrintedNumber seconds_per_input) {
  return {.joules = joules,
          .joules_per_run = joules_per_run,
          .joules_per_input = joules_per_input,
          .seconds = seconds,
          .seconds_per_run = seconds_per_run,
          .seconds_per_input = seconds_per_input};
}

/// Returns cells with the settings of a column of table 13.
Column column(std::string_view name, std::string_view settings, std::vector<Axes> axes,
              std::vector<Printed> printed) {
  return {.name = name,
          .warp = mtad_warp(),
          .settings = mtad_settings(settings),
          .axes = std::move(axes),
          .printed = std::move(printed)};
}

Column judged(std::string_view score, Column column) {
  column.score = score;
  return column;
}

const std::vector<Axes> two_methods = {{.methods = {"speculative", "mtad"}}};

Preset mtad_table1() {
  WarpOptions hot = WarpOptions::none();
  hot.temperature = 2.0;
  return {.name = "mtad-table1",
          .source = "MTAD, table 1",
          .summary =
              "10 answers to every prompt at temperature 2: highest, 5th-lowest and lowest perplexity, "
              "and how good those answers are",
          .models = "GPT-3.5-turbo; Spider, execution accuracy in %",
          .columns = {{.warp = hot,
                       .axes = {{.methods = {"plain"}}},
                       .printed = {perplexity_score(4.13_p, 33_p), perplexity_score(1.40_p, 58_p),
                                   perplexity_score(1.07_p, 62_p)},
                       .score = "sql"}},
          .ranks = {{"highest perplexity", 9}, {"5th-lowest perplexity", 4}, {"lowest perplexity", 0}}};
}

Preset mtad_table2() {
  return {
      .name = "mtad-table2",
      .source = "MTAD, table 2",
      .summary = "a token for every text of a batch: time and energy of a pass and of an input",
      .models = "OPT-13B on an L40",
      .passes = PassTable{{.lengths = {1}, .batches = {1, 2, 4, 8, 16}, .runs = 3000, .independent = true},
                          {pass(42'450_p, 14.1_p, 14.1_p, 1'129_p, .376_p, .376_p),
                           pass(49'621_p, 16.5_p, 8.26_p, 1'191_p, .397_p, .198_p),
                           pass(53'325_p, 17.7_p, 4.43_p, 1'178_p, .392_p, .098_p),
                           pass(59'210_p, 19.7_p, 2.46_p, 1'211_p, .403_p, .050_p),
                           pass(74'058_p, 24.7_p, 1.54_p, 1'255_p, .418_p, .026_p)}}};
}

Preset mtad_table3() {
  const std::vector<Axes> axes = {{.methods = {"plain", "speculative"}}};
  return {
      .name = "mtad-table3",
      .source = "MTAD, table 3",
      .summary = "speed and energy of multinomial sampling and of speculative decoding",
      .models = "OPT-125M for OPT-13B (O), Llama-68M for Llama-2-13B (L); ChatAlpaca",
      .repeats = 4,
      .columns = {column("O,CA", "O,CA", axes, {speed_energy(23.8_p, 11.3_p), speed_energy(35.6_p, 5.74_p)}),
                  column("L,CA", "L,CA", axes, {speed_energy(22.0_p, 11.2_p), speed_energy(31.6_p, 6.97_p)})},
      .relative_to = "plain"};
}

Preset table6() {
  Column chat = judged("command", column("L,MT", "L,MT", two_methods,
                                         {{.score = PaperValue{2.58_p}}, {.score = PaperValue{2.68_p}}}));
  chat.printed[0].score_by_category = {{"humanities", 2.95_p}, {"extraction", 1.80_p}, {"roleplay", 3.10_p},
                                       {"math", 1.10_p},       {"coding", 1.25_p},     {"reasoning", 3.80_p},
                                       {"stem", 2.85_p},       {"writing", 3.80_p}};
  chat.printed[1].score_by_category = {{"humanities", 3.15_p}, {"extraction", 2.50_p}, {"roleplay", 3.80_p},
                                       {"math", 1.00_p},       {"coding", 1.10_p},     {"reasoning", 3.15_p},
                                       {"stem", 3.10_p},       {"writing", 3.65_p}};
  return {
      .name = "mtad-table6",
      .source = "MTAD, table 6",
      .summary = "how good the answers of speculative decoding and of MTAD are",
      .models =
          "Llama-68M for Llama-2-13B; CNN/DailyMail (CD) by ROUGE-L, Spider (SP) by execution "
          "accuracy in %, MT-bench (MT) by a judge from 1 to 10",
      .repeats = 4,
      .columns = {judged("rouge-l", column("L,CD", "L,CD", two_methods,
                                           {{.score = PaperValue{.114_p}}, {.score = PaperValue{.118_p}}})),
                  judged("sql", column("L,SP", "L,SP", two_methods,
                                       {{.score = PaperValue{11.5_p}}, {.score = PaperValue{13.0_p}}})),
                  std::move(chat)},
      .relative_to = "speculative"};
}

Preset table7() {
  const std::vector<Axes> beams = {{.methods = {"mtad"}, .beams = {2, 4, 6, 8}}};
  return {.name = "mtad-table7",
          .source = "MTAD, table 7",
          .summary = "MTAD for numbers of beams",
          .models = "Llama-68M for Llama-2-13B (L), OPT-125M for OPT-13B (O); ChatGPT-Prompts",
          .columns = {column("L,CP", "L,CP", beams,
                             {speed_energy_perplexity(55.9_p, 2.43_p, 2.44_p),
                              speed_energy_perplexity(59.9_p, 2.25_p, 2.12_p),
                              speed_energy_perplexity(60.2_p, 2.22_p, 2.14_p),
                              speed_energy_perplexity(61.3_p, 2.20_p, 2.10_p)}),
                      column("O,CP", "O,CP", beams,
                             {speed_energy_perplexity(51.0_p, 2.50_p, 3.63_p),
                              speed_energy_perplexity(54.1_p, 2.32_p, 3.16_p),
                              speed_energy_perplexity(54.3_p, 2.36_p, 3.42_p),
                              speed_energy_perplexity(55.9_p, 2.30_p, 3.19_p)})}};
}

Preset table8() {
  return {.name = "mtad-table8",
          .source = "MTAD, table 8",
          .summary = "mean tokens of the prompts; nothing is generated",
          .models = "the tokens are those of the paper's models",
          .data_sets = {{"CP", "ChatGPT-Prompts, instructions", 25.2_p},
                        {"CA", "ChatAlpaca, chat", 277.7_p},
                        {"CD", "CNN/DailyMail, summaries", 3967.1_p},
                        {"SP", "Spider, text to SQL", 347.68_p},
                        {"MT", "MT-bench, conversations of eight kinds (not printed)"}}};
}

Preset table10() {
  const std::vector<WarpOptions> warps = {mtad_warp(20, .9), mtad_warp(20, .8), mtad_warp(10, .9),
                                          mtad_warp(10, .8)};
  return {.name = "mtad-table10",
          .source = "MTAD, table 10",
          .summary =
              "multinomial sampling (\"greedy\" in the paper), speculative decoding and MTAD for "
              "filters top-k and top-p",
          .models = "Llama-68M for Llama-2-13B; ChatGPT-Prompts",
          .columns = {column("L,CP", "L,CP", {{.methods = {"plain", "speculative", "mtad"}, .warps = warps}},
                             {perplexity_speed(3.74_p, 22.6_p), perplexity_speed(3.06_p, 22.7_p),
                              perplexity_speed(3.03_p, 22.7_p), perplexity_speed(2.56_p, 22.7_p),
                              perplexity_speed(3.64_p, 36.8_p), perplexity_speed(3.10_p, 38.5_p),
                              perplexity_speed(3.22_p, 38.5_p), perplexity_speed(2.53_p, 40.0_p),
                              perplexity_speed(2.06_p, 63.0_p), perplexity_speed(1.93_p, 58.8_p),
                              perplexity_speed(1.95_p, 62.5_p), perplexity_speed(1.80_p, 62.5_p)})},
          .relative_to = "speculative"};
}

/// Tables 11 and 12: the same models unmodified, with a fine-tuned draft, and with both fine-tuned.
Preset tuned(std::string_view name, std::string_view source, std::string_view models, std::string_view score,
             std::vector<Column> columns) {
  Preset preset{.name = name,
                .source = source,
                .summary =
                    "speculative decoding and MTAD with models as they are, with a fine-tuned draft "
                    "(column …,draft) and with both fine-tuned (…,both)",
                .models = models,
                .columns = std::move(columns),
                .relative_to = "speculative"};
  for (Column& column : preset.columns) column.score = score;
  return preset;
}

Preset table11() {
  return tuned(
      "mtad-table11", "MTAD, table 11",
      "Llama-68M for Llama-2-13B, fine-tuned (not public); CNN/DailyMail by ROUGE-L", "rouge-l",
      {column("L,CD", "L,CD", two_methods, {score_speed(.114_p, 37.7_p), score_speed(.118_p, 44.2_p)}),
       column("L,CD,draft", "L,CD", two_methods, {score_speed(.114_p, 20.4_p), score_speed(.121_p, 25.0_p)}),
       column("L,CD,both", "L,CD", two_methods, {score_speed(.164_p, 24.3_p), score_speed(.168_p, 27.1_p)})});
}

Preset table12() {
  return tuned(
      "mtad-table12", "MTAD, table 12",
      "Llama-68M for Llama-2-13B, fine-tuned (not public); Spider by execution accuracy in %", "sql",
      {column("L,SP", "L,SP", two_methods, {score_speed(11.5_p, 28.5_p), score_speed(13.0_p, 30.3_p)}),
       column("L,SP,draft", "L,SP", two_methods, {score_speed(11.5_p, 27.8_p), score_speed(14.8_p, 32.3_p)}),
       column("L,SP,both", "L,SP", two_methods, {score_speed(16.3_p, 25.6_p), score_speed(18.3_p, 29.4_p)})});
}

Preset figure1() {
  return {
      .name = "mtad-figure1",
      .source = "MTAD, figure 1",
      .summary = "perplexity and ROUGE-L of joint decoding in the target for block lengths",
      .models =
          "OPT-125M and Llama-68M, fine-tuned (not public); ChatGPT-Prompts; the number of beams is "
          "not printed: 8",
      .columns = {{.warp = mtad_warp(),
                   .settings = mtad_settings("L,CP"),
                   .axes = {{.methods = {"mtjd"}, .lengths = {1, 2, 3, 4, 5}, .beam_modes = {BeamMode::top}}},
                   .score = "rouge-l"}}};
}

Preset figure3() {
  return {.name = "mtad-figure3",
          .source = "MTAD, figure 3",
          .summary = "perplexity and speed of MTAD for thresholds from 0 to 1, beside multinomial sampling",
          .models = "the paper prints no values, models or data here: the settings are those of L,CP",
          .columns = {{.warp = mtad_warp(),
                       .settings = mtad_settings("L,CP"),
                       .axes = {{.methods = {"plain"}},
                                {.methods = {"mtad"},
                                 .taus = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}}}}}};
}

}  // namespace

WarpOptions mtad_warp(std::size_t top_k, double top_p) {
  WarpOptions warp = WarpOptions::none();
  warp.top_k = top_k;
  warp.top_p = top_p;
  return warp;
}

std::vector<Preset> mtad_presets() {
  std::vector<Preset> all = {mtad_table3(), table6(), table7(), table10(), table11(), table12(), figure3()};
  for (Preset& preset : all) preset.seconds = time_budget;  // section 5 states this for all its experiments
  for (const auto& before : {mtad_table1(), mtad_table2(), table8(), figure1()}) all.push_back(before);
  return all;
}

}  // namespace spectr::lab
