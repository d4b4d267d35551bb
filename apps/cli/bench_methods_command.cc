#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/measure_cell.h"
#include "apps/bench/method_report.h"
#include "apps/bench/presets.h"
#include "apps/bench/prompts.h"
#include "apps/cli/arguments.h"
#include "apps/cli/bench_output.h"
#include "apps/cli/bench_resume.h"
#include "apps/cli/bundled_models.h"
#include "apps/cli/commands.h"
#include "apps/cli/cost_file.h"
#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/cli/method_flags.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/processor_name.h"
#include "apps/cli/progress.h"
#include "apps/cli/sampling_flags.h"
#include "apps/json_input.h"
#include "apps/server/api_error.h"
#include "apps/server/chat_prompt.h"
#include "spectr/backend/cpu/machine_speed.h"

namespace spectr::cli {
namespace {

struct Flags {
  ModelFlags model;
  std::string preset;
  bench::Axes axes{.methods = {"speculative", "spectr"}};
  MethodFlags settings;
  SamplingFlags sampling;
  std::string prompts;
  std::size_t count = 20;
  std::size_t predict = 128;
  std::uint64_t seed = 0;
  bool ignore_eos = false;
  bool chat = false;
  Resume resume;
  BenchOutput output;
};

/// What is measured, and with which distribution.
struct Plan {
  std::vector<bench::Axes> axes;
  MethodOptions settings;
  Warp warp;
};

Plan plan_of(const Flags& flags, const CLI::App& command) {
  if (flags.preset.empty()) return {{flags.axes}, flags.settings.request.settings(), flags.sampling.warp()};
  const bench::Preset& preset = *need(bench::find_preset(flags.preset));
  if (preset.axes.empty()) {
    throw Failure(Status::usage, fmt::format("--preset {} measures passes: spectr bench widths --preset {}",
                                             preset.name, preset.name));
  }
  for (const CLI::Option* option : command.get_options()) {
    const std::string& group = option->get_group();
    const bool fixed = group == "Sampling" || (group == "Speculation" && !option->check_lname("cost-file"));
    if (option->count() > 0 && fixed) {
      throw Failure(Status::usage,
                    fmt::format("{} is fixed by --preset {}", option->get_name(), flags.preset));
    }
  }
  return {preset.axes, preset.settings, need(Warp::make(preset.warp))};
}

/// Whether a rule that satisfies `wanted` is among the methods of the plan.
template <class Wanted>
bool any_method(const Plan& plan, Wanted wanted) {
  for (const bench::Axes& axes : plan.axes) {
    for (const std::string& name : axes.methods) {
      if (wanted(*need(find_method(name)))) return true;
    }
  }
  return false;
}

/// Drafts may be as small as pays where that is for every method to choose.
LoadOptions draft_options_of(const Plan& plan, const ModelFlags& flags, const CostFile& file) {
  const auto is_fixed = [](const MethodRule& rule) {
    return rule.models.max > 0 && !rule.reads(Setting::costs);
  };
  const MethodRule& automatic = *need(find_method("auto"));
  return any_method(plan, is_fixed) ? flags.load_options() : draft_options(flags, automatic, file);
}

/// Says which settings no cell reads.
void warn_of_unread(const std::vector<bench::Cell>& cells) {
  auto unread = unread_settings(*cells.front().method, cells.front().options);
  for (const bench::Cell& cell : cells) {
    const auto here = unread_settings(*cell.method, cell.options);
    std::erase_if(unread, [&](std::string_view name) { return std::ranges::find(here, name) == here.end(); });
  }
  for (const std::string_view name : unread)
    fmt::print(stderr, "--{} is not used: none of the methods reads it\n", name);
}

/// Measures every cell that the file does not have yet.
Json measure(const bench::Setup& setup, const std::vector<bench::Cell>& cells,
             const std::vector<bench::TokenPrompt>& prompts, int threads, bench::EnergyMeter& meter,
             Resume& resume) {
  Json rows = Json::array();
  Progress progress("bench methods", cells.size() * prompts.size());
  for (const bench::Cell& cell : cells) {
    std::size_t finished = rows.size() * prompts.size();
    rows.push_back(resume.result(bench::key_of(setup, cell, prompts, threads), [&] {
      return need(bench::measure_cell(setup, cell, prompts, meter, [&] { progress.at(++finished); }),
                  Status::failed);
    }));
    progress.at(rows.size() * prompts.size());
  }
  progress.done();
  return rows;
}

void warn_of_cuts(const std::vector<bench::TokenPrompt>& prompts) {
  const auto cut = std::ranges::count_if(prompts, [](const bench::TokenPrompt& p) { return p.cut; });
  if (cut == 0) return;
  fmt::print(stderr, "{} of {} prompts are too long for the context: what counts is their end\n", cut,
             prompts.size());
}

/// Every cell of the plan; one that goes by costs goes by those of its own draft model.
std::vector<bench::Cell> cells_of(const Plan& plan, const CostFile& file, const LoadedModel& target,
                                  const std::vector<LoadedModel>& drafts, int threads) {
  MethodOptions settings = plan.settings;
  std::vector<std::shared_ptr<const Costs>> costs;  // [draft]
  if (any_method(plan, [](const MethodRule& rule) { return rule.reads(Setting::costs); })) {
    for (const LoadedModel& draft : drafts) {
      const Transformer* const one[] = {draft.transformer.get()};
      costs.push_back(file.costs(*target.transformer, one, threads));
    }
    if (drafts.empty()) costs.push_back(file.costs(*target.transformer, {}, threads));
    settings.costs = costs.front();
  }
  auto cells = need(bench::expand(plan.axes, settings, std::max<std::size_t>(1, drafts.size())));
  for (bench::Cell& cell : cells) {
    if (cell.method->reads(Setting::costs)) cell.options.costs = costs[cell.draft];
    need(check_tuples(*cell.method, cell.options, plan.warp.options(), target.transformer->vocabulary()));
  }
  return cells;
}

/// Renders conversations by the chat template of the target's file.
bench::ChatRenderer chat_renderer(const LoadedModel& target) {
  const Gguf& file = target.transformer->file();
  const auto source = file.find("tokenizer.chat_template");
  if (source == nullptr)
    throw Failure(Status::usage, fmt::format("--chat: {} has no chat template", file.name()));
  const auto chat_template = std::make_shared<const Result<jinja::Template>>(
      jinja::Template::parse(need(file.string("tokenizer.chat_template"))));
  return [&tokenizer = *target.tokenizer,
          chat_template](std::span<const std::string> said) -> Result<std::vector<Token>> {
    JsonInput messages = JsonInput::array();
    for (std::size_t i = 0; i < said.size(); ++i)
      messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", said[i]}});
    try {
      return server::encode_chat(server::chat_prompt(messages, {}, tokenizer.vocabulary(), *chat_template),
                                 tokenizer);
    } catch (const server::ApiError& refused) {
      return error("{}", refused.what());
    }
  };
}

void run(Flags flags, const CLI::App& command) {
  const Plan plan = plan_of(flags, command);
  const bool drafts_needed = any_method(plan, [](const MethodRule& rule) { return rule.models.min > 0; });
  // Errors come before models are loaded.
  warn_of_unread(
      need(bench::expand(plan.axes, plan.settings, std::max<std::size_t>(1, flags.model.drafts.size()))));
  flags.model.choose_bundled();
  if (drafts_needed && flags.model.drafts.empty())
    throw Failure(Status::usage, "the methods need a draft model: give -md FILE");
  if (!plan.settings.tree.empty() &&
      !any_method(plan, [](const MethodRule& rule) { return rule.reads(Setting::tree); }))
    throw Failure(Status::usage,
                  "none of the methods drafts a prefix tree; --tree goes with tree and traversal");
  const auto texts =
      need(bench::read_prompts(need(data_file(flags.prompts, "stories.jsonl", "--prompts")), flags.count));
  flags.resume.open();
  flags.output.open();

  ThreadPool pool(flags.model.thread_count());
  const LoadedModel target = need(load_model(flags.model.model, pool, flags.model.load_options()));
  const CostFile cost_file(flags.settings.cost_file);
  const std::vector<LoadedModel> drafts =
      load_drafts(flags.model, target, pool, draft_options_of(plan, flags.model, cost_file));
  check_biases(plan.warp, target.transformer->vocabulary());
  const bench::Setup setup{target,
                           drafts,
                           plan.warp,
                           flags.predict,
                           flags.seed,
                           flags.ignore_eos,
                           flags.chat ? chat_renderer(target) : nullptr};
  const auto prompts = need(bench::tokenize(setup, texts));
  warn_of_cuts(prompts);
  const auto cells = cells_of(plan, cost_file, target, drafts, pool.threads());
  bench::EnergyMeter meter;
  const auto idle = meter.idle_watts();
  const Json rows = measure(setup, cells, prompts, pool.threads(), meter, flags.resume);

  Json draft_files = nullptr;
  if (flags.model.drafts.size() == 1) draft_files = flags.model.drafts.front();
  if (flags.model.drafts.size() > 1) draft_files = flags.model.drafts;
  const std::string table = fmt::format(
      "{}\n{}, {} threads, {}; energy: {}{}\n{} prompts, at most {} tokens each, seed {}; means over prompts "
      "± standard error\n\n{}",
      flags.model.model, processor_name(), pool.threads(), instruction_set(), meter.source(),
      idle ? fmt::format(", idle {:.1f} W", *idle) : "", prompts.size(), flags.predict, flags.seed,
      bench::methods_table(rows));
  const Json object = {{"model", flags.model.model}, {"draft", draft_files},     {"threads", pool.threads()},
                       {"seed", flags.seed},         {"predict", flags.predict}, {"rows", rows}};
  flags.output.print(object, rows, table);
  flags.output.draw("methods", rows,
                    {{"block-efficiency", bench::efficiency_figure(rows)},
                     {"speed-up", bench::speedup_figure(rows)},
                     {"acceptance", bench::acceptance_figure(rows)}});
}

}  // namespace

void add_bench_methods(CLI::App& bench) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command =
      *bench.add_subcommand("methods", "Methods, plans, K and L over prompts, each beside plain decoding");
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  command
      .add_option(
          "--prompts", flags->prompts,
          ".jsonl (an object per line) or .json (also a list of them) with prompt, turns or question, .csv "
          "with a column prompt, or a prompt per line (default: the bundled stories)")
      ->transform(file_name());
  command.add_option("--count", flags->count, "prompts to use, the first ones; 0: all")
      ->transform(whole(0))
      ->capture_default_str();
  command.add_option("-n,--predict,--n-predict", flags->predict, "max tokens of an answer")
      ->capture_default_str()
      ->transform(whole(1, 1L << 30));
  command.add_option("-s,--seed", flags->seed, "of the choices")->transform(whole(0))->capture_default_str();
  command.add_flag("--ignore-eos", flags->ignore_eos, "go on after end-of-text tokens");
  command.add_flag("--chat", flags->chat, "prompts are what a user says: render them by the chat template");
  flags->resume.add(command);
  add_preset(command, flags->preset);
  const std::string group = "Speculation";
  const auto list = [&](const char* name, auto& values, const char* help) {
    return command.add_option(name, values, help)->delimiter(',')->group(group);
  };
  list("--method", flags->axes.methods, "methods, separated by commas")->capture_default_str();
  list("--plan", flags->axes.plans, "plans, separated by commas (default: each method's own)");
  add_list(command, "-K", flags->axes.drafts, "draft sequences (default: 4)", 1)->group(group);
  add_list(command, length_names, flags->axes.lengths, "tokens per draft (default: 4)", 1)->group(group);
  flags->settings.add_settings(command);
  flags->settings.add_cost_file(command);
  flags->sampling.add(command);
  flags->output.add(command, true);
  command.callback([flags, &command] {
    refuse_variables();
    run(*flags, command);
  });
}

}  // namespace spectr::cli
