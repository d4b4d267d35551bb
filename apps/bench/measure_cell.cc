#include "apps/bench/measure_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "apps/bench/mean.h"
#include "apps/bench/results_file.h"
#include "spectr/base/hash.h"

namespace spectr::bench {
namespace {

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// What is kept of every prompt.
struct Samples {
  Statistics all, plain;
  std::vector<double> block_efficiency, rouge;
  std::vector<double> cost, plain_cost;  // seconds per token
  DraftShape shape;
  std::optional<double> joules = 0.0;
};

/// Seconds per token after the prompt. Every answer has a token.
double cost_of(const Answers& answers) {
  return 1.0 / answers.statistics.tokens_per_second();
}

std::string costs_hash(const Cell& cell) {
  return fmt::format("{:016x}", cell.options.costs->hash());
}

Json row_of(const Setup& setup, const Cell& cell, const Samples& samples) {
  const Mean efficiency = mean_of(samples.block_efficiency);
  const Mean speedup = ratio_of(samples.plain_cost, samples.cost);
  const Statistics& all = samples.all;
  Json row = {{"method", cell.method->name},
              {"plan", cell.options.plan ? Json(*cell.options.plan) : Json(nullptr)},
              {"drafts", samples.shape.drafts},
              {"length", samples.shape.length},
              {"prompts", samples.block_efficiency.size()},
              {"block_efficiency", efficiency.value},
              {"block_efficiency_se", or_null(efficiency.error)},
              {"acceptance_rate", all.acceptance_rate()},
              {"acceptance_per_position", all.acceptance_per_position()},
              {"tokens_per_second", all.tokens_per_second()},
              {"plain_tokens_per_second", samples.plain.tokens_per_second()},
              {"speedup", speedup.value},
              {"speedup_se", or_null(speedup.error)},
              {"perplexity", all.perplexity()},
              {"bias_tv", or_null(all.bias_tv())},
              {"joules_per_token", samples.joules && all.generated() > 0
                                       ? Json(*samples.joules / static_cast<double>(all.generated()))
                                       : Json(nullptr)},
              {"seconds",
               {{"prompt", all.prompt_seconds},
                {"draft", all.stages.draft},
                {"target", all.stages.target},
                {"select", all.stages.select},
                {"total", all.total_seconds}}}};
  if (!samples.rouge.empty()) row["rouge_l"] = mean_of(samples.rouge).value;
  if (cell.method->reads(Setting::costs)) row["costs_hash"] = costs_hash(cell);
  if (cell.method->reads(Setting::tau)) row["tau"] = cell.options.tau;
  if (const LoadedModel* draft = draft_of(setup, cell)) row["draft"] = draft->transformer->file().name();
  return row;
}

/// Over the tokens of all prompts.
std::uint64_t hash(std::span<const TokenPrompt> prompts) {
  Fnv1a hash;
  for (const TokenPrompt& prompt : prompts) {
    for (const auto& turn : prompt.turns) {
      for (Token token : turn) hash.add(static_cast<std::uint64_t>(token));
      hash.add(~std::uint64_t{0});
    }
    for (char c : prompt.reference) hash.add(static_cast<unsigned char>(c));
  }
  return hash.value();
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  bool inside = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool part = byte >= 0x80 || std::isalnum(byte) != 0;  // UTF-8 beyond ASCII counts as letters
    if (part && !inside) all.emplace_back();
    if (part) all.back() += static_cast<char>(std::tolower(byte));
    inside = part;
  }
  return all;
}

std::size_t longest_common_subsequence(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  // row[j]: the length for the words of a so far and the first j of b.
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const std::string& word : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = word == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

double rouge_l(std::string_view text, std::string_view reference) {
  const auto a = words(text), b = words(reference);
  if (a.empty() || b.empty()) return 0.0;
  return 2.0 * static_cast<double>(longest_common_subsequence(a, b)) /
         static_cast<double>(a.size() + b.size());
}

Result<Json> measure_cell(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts,
                          EnergyMeter& meter, const std::function<void()>& done) {
  SPECTR_TRY(const MethodRule* plain_method, find_method("plain"));
  const Cell plain{plain_method, {}, {}};
  const bool is_plain = cell.method == plain_method;
  {  // to warm up: the first blocks of a program fault its memory in
    Setup brief = setup;
    brief.predict = std::min<std::size_t>(setup.predict, 8);
    SPECTR_TRY_VOID(answer(brief, cell, prompts.front(), 0));
  }
  Samples samples;
  for (std::size_t n = 0; n < prompts.size(); ++n) {
    const auto run_plain = [&]() -> Result<void> {
      SPECTR_TRY(const Answers answers, answer(setup, plain, prompts[n], n));
      samples.plain.add(answers.statistics);
      samples.plain_cost.push_back(cost_of(answers));
      return {};
    };
    if (!is_plain && n % 2 == 0) SPECTR_TRY_VOID(run_plain());
    meter.start();
    SPECTR_TRY(const Answers answers, answer(setup, cell, prompts[n], n));
    const auto joules = meter.stop();
    samples.joules = samples.joules && joules ? std::optional(*samples.joules + *joules) : std::nullopt;
    if (!is_plain && n % 2 == 1) SPECTR_TRY_VOID(run_plain());

    samples.all.add(answers.statistics);
    samples.shape = larger(samples.shape, answers.shape);
    samples.block_efficiency.push_back(answers.statistics.block_efficiency());
    samples.cost.push_back(cost_of(answers));
    if (is_plain) {
      samples.plain.add(answers.statistics);
      samples.plain_cost.push_back(samples.cost.back());
    }
    if (!prompts[n].reference.empty()) samples.rouge.push_back(rouge_l(answers.first, prompts[n].reference));
    done();
  }
  return row_of(setup, cell, samples);
}

Json key_of(const Setup& setup, const Cell& cell, std::span<const TokenPrompt> prompts, int threads) {
  const MethodOptions& o = cell.options;
  const WarpOptions& w = setup.warp.options();
  Json key = {{"target", identity_of(setup.target.transformer->file().name())},
              {"method", cell.method->name},
              {"plan", o.plan ? Json(*o.plan) : Json(nullptr)},
              {"drafts", cell.shape.drafts},
              {"length", cell.shape.length},
              {"settings",
               {o.tree, o.epsilon, o.tau, o.beams, static_cast<int>(o.beam_mode), o.bild_fallback,
                o.bild_rollback, o.ngram}},
              {"warp",
               {w.temperature, w.top_k, w.top_p, w.min_p, w.repeat_penalty, w.presence_penalty,
                w.frequency_penalty, w.repeat_last_n, w.logit_bias}},
              {"predict", setup.predict},
              {"seed", setup.seed},
              {"ignore_eos", setup.ignore_eos},
              {"threads", threads},
              {"prompts", {prompts.size(), fmt::format("{:016x}", hash(prompts))}}};
  if (cell.method->reads(Setting::costs) && o.costs) key["costs"] = costs_hash(cell);
  if (const LoadedModel* draft = draft_of(setup, cell)) {
    const Transformer& model = *draft->transformer;
    key["draft"] = identity_of(model.file().name());
    key["draft_weights"] = {model.weight_bytes(), model.spec().head.output.out};
  }
  key["chat"] = static_cast<bool>(setup.chat);
  return key;
}

}  // namespace spectr::bench
