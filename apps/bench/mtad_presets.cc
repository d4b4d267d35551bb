#include "apps/bench/paper_presets.h"

namespace spectr::bench {
namespace {

Printed speed_energy(double tokens_per_second, double joules_per_token) {
  return {.tokens_per_second = PaperValue{tokens_per_second},
          .joules_per_token = PaperValue{joules_per_token}};
}

Printed speed_energy_perplexity(double tokens_per_second, double joules_per_token, double perplexity) {
  Printed printed = speed_energy(tokens_per_second, joules_per_token);
  printed.perplexity = PaperValue{perplexity};
  return printed;
}

Printed perplexity_speed(double perplexity, double tokens_per_second) {
  return {.tokens_per_second = PaperValue{tokens_per_second}, .perplexity = PaperValue{perplexity}};
}

Printed score_speed(double score, double tokens_per_second) {
  return {.tokens_per_second = PaperValue{tokens_per_second}, .score = PaperValue{score}};
}

Printed perplexity_score(double perplexity, double score) {
  return {.perplexity = PaperValue{perplexity}, .score = PaperValue{score}};
}

PrintedPass pass(double joules_per_run, double joules_per_input, double seconds_per_run,
                 double seconds_per_input) {
  return {.joules_per_run = joules_per_run,
          .joules_per_input = joules_per_input,
          .seconds_per_run = seconds_per_run,
          .seconds_per_input = seconds_per_input};
}

/// Cells with the settings of a column of table 13.
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

Preset table1() {
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
                       .printed = {perplexity_score(4.13, 33), perplexity_score(1.40, 58),
                                   perplexity_score(1.07, 62)},
                       .score = "sql"}},
          .ranks = {{"highest perplexity", 9}, {"5th-lowest perplexity", 4}, {"lowest perplexity", 0}}};
}

Preset table2() {
  return {.name = "mtad-table2",
          .source = "MTAD, table 2",
          .summary = "a token for every text of a batch: time and energy of a pass and of an input",
          .models = "OPT-13B on an L40; 42,450 J in 1,129 s for a batch of 1",
          .passes = PassTable{
              {.lengths = {1}, .batches = {1, 2, 4, 8, 16}, .runs = 3000, .independent = true},
              {pass(14.1, 14.1, .376, .376), pass(16.5, 8.26, .397, .198), pass(17.7, 4.43, .392, .098),
               pass(19.7, 2.46, .403, .050), pass(24.7, 1.54, .418, .026)}}};
}

Preset table3() {
  const std::vector<Axes> axes = {{.methods = {"plain", "speculative"}}};
  return {.name = "mtad-table3",
          .source = "MTAD, table 3",
          .summary = "speed and energy of multinomial sampling and of speculative decoding",
          .models = "OPT-125M for OPT-13B (O), Llama-68M for Llama-2-13B (L); ChatAlpaca",
          .repeats = 4,
          .columns = {column("O,CA", "O,CA", axes, {speed_energy(23.8, 11.3), speed_energy(35.6, 5.74)}),
                      column("L,CA", "L,CA", axes, {speed_energy(22.0, 11.2), speed_energy(31.6, 6.97)})},
          .relative_to = "plain"};
}

Preset table6() {
  Column chat = judged("command", column("L,MT", "L,MT", two_methods,
                                         {{.score = PaperValue{2.58}}, {.score = PaperValue{2.68}}}));
  chat.printed[0].score_by_category = {{"humanities", 2.95}, {"extraction", 1.80}, {"roleplay", 3.10},
                                       {"math", 1.10},       {"coding", 1.25},     {"reasoning", 3.80},
                                       {"stem", 2.85},       {"writing", 3.80}};
  chat.printed[1].score_by_category = {{"humanities", 3.15}, {"extraction", 2.50}, {"roleplay", 3.80},
                                       {"math", 1.00},       {"coding", 1.10},     {"reasoning", 3.15},
                                       {"stem", 3.10},       {"writing", 3.65}};
  return {.name = "mtad-table6",
          .source = "MTAD, table 6",
          .summary = "how good the answers of speculative decoding and of MTAD are",
          .models =
              "Llama-68M for Llama-2-13B; CNN/DailyMail (CD) by ROUGE-L, Spider (SP) by execution "
              "accuracy in %, MT-bench (MT) by a judge from 1 to 10",
          .repeats = 4,
          .columns = {judged("rouge-l", column("L,CD", "L,CD", two_methods,
                                               {{.score = PaperValue{.114}}, {.score = PaperValue{.118}}})),
                      judged("sql", column("L,SP", "L,SP", two_methods,
                                           {{.score = PaperValue{11.5}}, {.score = PaperValue{13.0}}})),
                      std::move(chat)},
          .relative_to = "speculative"};
}

Preset table7() {
  const std::vector<Axes> beams = {{.methods = {"mtad"}, .beams = {2, 4, 6, 8}}};
  return {
      .name = "mtad-table7",
      .source = "MTAD, table 7",
      .summary = "MTAD for numbers of beams",
      .models = "Llama-68M for Llama-2-13B (L), OPT-125M for OPT-13B (O); ChatGPT-Prompts",
      .columns = {
          column("L,CP", "L,CP", beams,
                 {speed_energy_perplexity(55.9, 2.43, 2.44), speed_energy_perplexity(59.9, 2.25, 2.12),
                  speed_energy_perplexity(60.2, 2.22, 2.14), speed_energy_perplexity(61.3, 2.20, 2.10)}),
          column("O,CP", "O,CP", beams,
                 {speed_energy_perplexity(51.0, 2.50, 3.63), speed_energy_perplexity(54.1, 2.32, 3.16),
                  speed_energy_perplexity(54.3, 2.36, 3.42), speed_energy_perplexity(55.9, 2.30, 3.19)})}};
}

Preset table8() {
  return {.name = "mtad-table8",
          .source = "MTAD, table 8",
          .summary = "mean tokens of the prompts; nothing is generated",
          .models = "the tokens are those of the paper's models",
          .data_sets = {{"CP", "ChatGPT-Prompts, instructions", 25.2},
                        {"CA", "ChatAlpaca, chat", 277.7},
                        {"CD", "CNN/DailyMail, summaries", 3967.1},
                        {"SP", "Spider, text to SQL", 347.68},
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
          .columns = {column(
              "L,CP", "L,CP", {{.methods = {"plain", "speculative", "mtad"}, .warps = warps}},
              {perplexity_speed(3.74, 22.6), perplexity_speed(3.06, 22.7), perplexity_speed(3.03, 22.7),
               perplexity_speed(2.56, 22.7), perplexity_speed(3.64, 36.8), perplexity_speed(3.10, 38.5),
               perplexity_speed(3.22, 38.5), perplexity_speed(2.53, 40.0), perplexity_speed(2.06, 63.0),
               perplexity_speed(1.93, 58.8), perplexity_speed(1.95, 62.5), perplexity_speed(1.80, 62.5)})},
          .relative_to = "speculative"};
}

/// Tables 11 and 12: the same models as they are, with a draft that was tuned on the data, and both tuned.
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
      {column("L,CD", "L,CD", two_methods, {score_speed(.114, 37.7), score_speed(.118, 44.2)}),
       column("L,CD,draft", "L,CD", two_methods, {score_speed(.114, 20.4), score_speed(.121, 25.0)}),
       column("L,CD,both", "L,CD", two_methods, {score_speed(.164, 24.3), score_speed(.168, 27.1)})});
}

Preset table12() {
  return tuned(
      "mtad-table12", "MTAD, table 12",
      "Llama-68M for Llama-2-13B, fine-tuned (not public); Spider by execution accuracy in %", "sql",
      {column("L,SP", "L,SP", two_methods, {score_speed(11.5, 28.5), score_speed(13.0, 30.3)}),
       column("L,SP,draft", "L,SP", two_methods, {score_speed(11.5, 27.8), score_speed(14.8, 32.3)}),
       column("L,SP,both", "L,SP", two_methods, {score_speed(16.3, 25.6), score_speed(18.3, 29.4)})});
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
  return {table1(),  table2(),  table3(),  table6(),  table7(), table8(),
          table10(), table11(), table12(), figure1(), figure3()};
}

}  // namespace spectr::bench
