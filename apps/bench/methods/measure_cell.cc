#include "apps/bench/methods/measure_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/bench/results_file.h"
#include "apps/support/setting_json.h"
#include "spectr/base/hash.h"

namespace spectr::bench {
namespace {

Take take_of(const Statistics& statistics, const std::optional<Energy>& energy = {}) {
  const auto tokens = static_cast<double>(statistics.generated());
  Take take{tokens, static_cast<double>(statistics.target_calls()), tokens / statistics.tokens_per_second(),
            tokens * std::log(statistics.perplexity())};
  if (energy) {
    take.joules = energy->joules;
    take.sampled_joules = energy->sampled_joules;
  }
  return take;
}

/// Returns the statistics over all prompts.
Measurement counts_of(const Statistics& all) {
  Measurement m;
  m.acceptance_rate = all.acceptance_rate();
  m.acceptance_per_position = all.acceptance_per_position();
  m.bias_tv = all.bias_tv();
  m.prompt_seconds = all.prompt_seconds;
  m.draft_seconds = all.stages.draft;
  m.target_seconds = all.stages.target;
  m.select_seconds = all.stages.select;
  m.total_seconds = all.total_seconds;
  return m;
}

Result<void> score(const Scorer& scorer, std::span<const TokenPrompt> prompts,
                   const std::vector<std::vector<std::string>>& texts, std::vector<Take>& takes) {
  if (scorer.name.empty()) return {};
  std::vector<Answered> answered;
  for (std::size_t n = 0; n < texts.size(); ++n) answered.push_back({&prompts[n].prompt, &texts[n]});
  SPECTR_TRY(const std::vector<std::optional<double>> scores, scorer.score(answered));
  for (std::size_t n = 0; n < takes.size(); ++n) takes[n].score = scores[n];
  return {};
}

/// Hashes the tokens and the references of all prompts.
std::uint64_t hash(std::span<const TokenPrompt> prompts) {
  Fnv1a hash;
  for (const TokenPrompt& prompt : prompts) {
    for (const auto& turn : prompt.turns) {
      for (Token token : turn) hash.add(static_cast<std::uint64_t>(token));
      hash.add(~std::uint64_t{0});
    }
    for (char c : prompt.prompt.reference) hash.add(static_cast<unsigned char>(c));
  }
  return hash.value();
}

std::string costs_hash(const Cell& cell) {
  return fmt::format("{:016x}", cell.options.costs->hash());
}

}  // namespace

Result<Measurement> measure_cell(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
                                 const RunSettings& settings, EnergyMeter& meter,
                                 const std::function<void()>& done) {
  SPECTR_TRY(const MethodRule* plain_method, find_method("plain"));
  const Cell plain{plain_method, {}, {}, cell.warp};
  const bool is_plain = cell.method == plain_method;
  {  // warm-up: the first blocks of a program cause page faults
    Setup brief = setup;
    brief.predict = std::min<std::size_t>(setup.predict, 8);
    SPECTR_TRY_VOID(answer(brief, cell, prompts.front(), 0));
  }
  const auto time_is_left = [&](double spent) { return !settings.seconds || spent < *settings.seconds; };
  Statistics all;
  DraftShape shape;
  std::vector<Take> takes, plain_takes;
  std::vector<std::vector<std::string>> texts;
  double plain_seconds = 0.0;
  for (std::size_t n = 0; n < prompts.size() && time_is_left(all.total_seconds); ++n) {
    const auto run_plain = [&]() -> Result<void> {
      if (!time_is_left(plain_seconds)) return {};
      SPECTR_TRY(const Answers answers, answer(setup, plain, prompts[n], n));
      plain_takes.push_back(take_of(answers.statistics));
      plain_seconds += answers.statistics.total_seconds;
      return {};
    };
    if (!is_plain && n % 2 == 0) SPECTR_TRY_VOID(run_plain());
    meter.start();
    SPECTR_TRY(Answers answers, answer(setup, cell, prompts[n], n));
    takes.push_back(take_of(answers.statistics, meter.stop()));
    if (!is_plain && n % 2 == 1) SPECTR_TRY_VOID(run_plain());
    all.add(answers.statistics);
    shape = larger(shape, answers.shape);
    texts.push_back(std::move(answers.texts));
    done();
  }
  SPECTR_TRY_VOID(score(settings.scorer, prompts, texts, takes));
  Measurement measurement = counts_of(all);
  measurement.plain = is_plain ? takes : std::move(plain_takes);
  measurement.takes = std::move(takes);
  measurement.shape = shape;
  return measurement;
}

Json key_of(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
            const RunSettings& settings, int threads) {
  const MethodOptions& o = cell.options;
  const WarpOptions& w = cell.warp.options();
  Json values;
  for (const MethodSetting& setting : method_settings())
    values[std::string(setting.name)] = json_of(setting, o);
  Json key = {{"target", identity_of(setup.models.target->file().name())},
              {"method", cell.method->name},
              {"plan", o.plan ? Json(*o.plan) : Json(nullptr)},
              {"drafts", cell.shape.drafts},
              {"length", cell.shape.length},
              {"settings", std::move(values)},
              {"warp",
               {w.temperature, w.top_k, w.top_p, w.min_p, w.repeat_penalty, w.presence_penalty,
                w.frequency_penalty, w.repeat_last_n, w.logit_bias}},
              {"predict", setup.predict},
              {"seed", setup.seed},
              {"ignore_eos", setup.ignore_eos},
              {"threads", threads},
              {"prompts", {prompts.size(), fmt::format("{:016x}", hash(prompts))}},
              {"budget", settings.seconds ? Json(*settings.seconds) : Json(nullptr)},
              {"score", settings.scorer.name}};
  if (cell.method->reads(Setting::suffix_reach)) {
    const auto& corpus = setup.models.corpus;
    key["suffix"] = {o.suffix_reach, corpus ? corpus->size() : 0};
  }
  if (cell.method->reads(Setting::costs) && o.costs) key["costs"] = costs_hash(cell);
  if (const Gguf* file = draft_file_of(setup, cell)) key["draft"] = identity_of(file->name());
  if (const Transformer* draft = draft_of(setup, cell))
    key["draft_weights"] = {draft->weight_bytes(), draft->spec().head.output.out};
  key["chat"] = static_cast<bool>(setup.chat);
  return key;
}

}  // namespace spectr::bench
