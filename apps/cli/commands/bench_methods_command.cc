#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/methods/column_file.h"
#include "apps/bench/methods/measure_cell.h"
#include "apps/bench/methods/method_figures.h"
#include "apps/bench/methods/method_report.h"
#include "apps/bench/methods/method_results.h"
#include "apps/bench/methods/tuning.h"
#include "apps/cli/commands/bench_methods_plan.h"
#include "apps/cli/commands/bench_resume.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/prompt_files.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/score_flags.h"
#include "apps/cli/report/bench_output.h"
#include "apps/cli/report/output.h"
#include "apps/cli/report/progress.h"
#include "lab/presets/claims.h"
#include "lab/presets/preset_list.h"
#include "lab/presets/presets.h"
#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/base/names.h"
#include "spectr/engine/costs/cost_file.h"
#include "spectr/engine/costs/processor_name.h"
#include "spectr/text/chat/chat_template.h"

namespace spectr::cli {
namespace {

struct BenchMethodsFlags {
  ModelFlags model;
  MethodsPlan plan;
  bool list_presets = false;
  std::vector<std::string> prompts;
  std::size_t count = 20;
  std::size_t prefix_words = 0;  // 0: whole prompts
  ScoreFlags score;
  std::size_t predict = 128;
  std::optional<double> seconds;
  std::size_t warm_up = 0;  // number of warm-up prompts
  bool ignore_eos = false;
  bool chat = false;
  Resume resume;
  BenchOutput output;
  const bench::Objective* objective = nullptr;  // for tune; null: nothing is chosen
  std::string objective_name = "perplexity";
  std::string chosen_file;
};

/// Returns the options for draft models; they are slimmed automatically only if all methods use costs.
LoadOptions draft_options_of(const MethodsPlan& plan, const ModelFlags& flags, const CostFile& file) {
  const auto is_fixed = [](const MethodRule& rule) {
    return rule.models.max > 0 && !rule.reads(Setting::costs);
  };
  const MethodRule& automatic = *need(find_method("auto"));
  return plan.any_method(is_fixed) ? flags.load_options() : draft_options(flags, automatic, file);
}

/// Prints which settings no cell reads. Throws Failure if a cell is impossible.
void check_cells(const MethodsPlan& plan, std::size_t draft_models) {
  for (const bench::Column* column : plan.all_columns()) {
    const auto cells =
        need(bench::cells_of(*column, column->settings, std::max<std::size_t>(1, draft_models)));
    if (plan.preset() != nullptr || cells.empty()) continue;
    auto unread = unread_settings(*cells.front().cell.method, cells.front().cell.options);
    for (const auto& [cell, from, printed] : cells) {
      const auto here = unread_settings(*cell.method, cell.options);
      std::erase_if(unread,
                    [&](std::string_view name) { return std::ranges::find(here, name) == here.end(); });
    }
    for (const std::string& name : unread)
      fmt::print(stderr, "--{} is not used: none of the methods reads it\n", name);
  }
}

/// Returns a renderer that uses the chat template of the target's file. Throws Failure if it has none. The
/// models must outlive the renderer.
bench::ChatRenderer chat_renderer(const EngineModels& models) {
  if (!models.has_template) {
    throw Failure(Status::usage,
                  fmt::format("--chat: {} has no chat template", models.target->file().name()));
  }
  if (!models.chat_template) throw Failure(models.chat_template.error());
  return [&tokenizer = *models.tokenizer, &chat_template = *models.chat_template](
             std::span<const std::string> said) -> Result<std::vector<Token>> {
    ChatTemplate::Conversation conversation;
    for (std::size_t i = 0; i < said.size(); ++i)
      conversation.messages.push_back(ChatMessage::of(i % 2 == 0 ? "user" : "assistant", said[i]));
    SPECTR_TRY(const MarkedText prompt, chat_template.render(conversation));
    return tokenizer.encode(prompt, true);
  };
}

void warn_of_cuts(const std::vector<bench::Part>& parts) {
  for (const bench::Part& part : parts) {
    const auto cut = std::ranges::count_if(part.prompts, [](const bench::TokenPrompt& p) { return p.cut; });
    if (cut == 0) continue;
    fmt::print(stderr, "{}: {} of {} prompts are too long for the context: what counts is their end\n",
               part.name, cut, part.prompts.size());
  }
}

/// Returns every cell of a data set, with the costs of its draft model if its method reads costs.
std::vector<bench::PresetCell> cells_of(const MethodsPlan& plan, const std::string& dataset,
                                        const CostFile& file, const EngineModels& models) {
  std::vector<std::shared_ptr<const Costs>> costs;  // by draft model
  if (plan.any_method([](const MethodRule& rule) { return rule.reads(Setting::costs); })) {
    const auto add = [&](std::span<const Transformer* const> drafts, const TrainedDrafter* trained) {
      costs.push_back(need(file.costs(*models.target, drafts, models.pool->threads(), trained)));
    };
    const std::vector<const Transformer*> drafts = models.draft_models();
    for (const Transformer* const& draft : drafts) add({&draft, 1}, nullptr);
    if (models.trained || drafts.empty()) add({}, models.trained.get());
  }
  const bool own_columns = plan.column_per_draft(models.drafts.size());
  const auto columns = own_columns ? plan.all_columns() : plan.columns(dataset);
  std::vector<bench::PresetCell> all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    MethodOptions settings = columns[i]->settings;
    if (!costs.empty()) settings.costs = costs.front();
    auto cells = need(bench::cells_of(*columns[i], settings, std::max<std::size_t>(1, models.draft_count())));
    for (bench::PresetCell& one : cells) {
      if (own_columns && one.cell.draft != i) continue;
      bench::Cell& cell = one.cell;
      if (cell.method->reads(Setting::costs)) cell.options.costs = costs[cell.draft];
      need(check_tuples(*cell.method, cell.options, cell.warp.options(), models.target->vocabulary()));
      check_biases(cell.warp, models.target->vocabulary());
      all.push_back(std::move(one));
    }
  }
  return all;
}

/// Generates answers to some prompts without recording them, so that clock frequencies and power meters have
/// settled when the measurement begins.
void warm_up(bench::Setup& setup, const std::vector<bench::Part>& parts, std::size_t prompts,
             bench::EnergyMeter& meter) {
  const bench::Part& part = parts.front();
  if (prompts == 0 || part.cells.empty()) return;
  const auto some = std::span(part.prompts).first(std::min(prompts, part.prompts.size()));
  need(bench::measure_cell(setup, part.cells.front().cell, some, {}, meter, [] {}), Status::failed);
}

/// Measures all cells that the results file does not have. The outer loop is over repetitions, so that other
/// load on the machine affects all cells.
void measure(bench::Setup& setup, std::vector<bench::Part>& parts, const std::vector<std::uint64_t>& seeds,
             std::optional<double> seconds, int threads, bench::EnergyMeter& meter, Resume& resume) {
  std::size_t all = 0, finished = 0;
  for (const bench::Part& part : parts) all += part.cells.size() * part.prompts.size() * seeds.size();
  Progress progress("bench methods", all);
  for (const std::uint64_t seed : seeds) {
    setup.seed = seed;
    for (bench::Part& part : parts) {
      part.measured.resize(part.cells.size());
      const bench::RunSettings settings{seconds, part.scorer};
      for (std::size_t i = 0; i < part.cells.size(); ++i) {
        const bench::Cell& cell = part.cells[i].cell;
        std::size_t done = finished;
        const Json measured = resume.result(bench::key_of(setup, cell, part.prompts, settings, threads), [&] {
          return bench::to_json(need(
              bench::measure_cell(setup, cell, part.prompts, settings, meter, [&] { progress.at(++done); }),
              Status::failed));
        });
        part.measured[i].push_back(bench::measurement_of(measured));
        progress.at(finished += part.prompts.size());
      }
    }
  }
  progress.done();
}

/// Chooses the best cell of each method and writes the file for `bench methods --column-file`.
Json choose(const BenchMethodsFlags& flags, const bench::Results& results,
            const std::vector<bench::Part>& parts) {
  const Json& rows = results.across.empty() ? results.rows : results.across;
  Json chosen = Json::array();
  std::vector<const bench::Cell*> cells;
  for (const std::size_t i : bench::best_rows(rows, *flags.objective)) {
    chosen.push_back(rows[i]);
    cells.push_back(&parts.front().cells[i].cell);
  }
  if (cells.empty())
    throw Failure(Status::failed, fmt::format("no method has a {} to choose by", flags.objective->name));
  std::ofstream file(flags.chosen_file, std::ios::binary);
  file << bench::column_json(cells).dump(2) << '\n' << std::flush;
  if (!file) throw Failure(Status::failed, fmt::format("{} cannot be written", flags.chosen_file));
  return chosen;
}

std::string spread_line(const bench::Preset* preset, std::size_t repeats) {
  if (preset != nullptr && !preset->ranks.empty())
    return fmt::format("means ± standard deviations over prompts, of {} answers to each", repeats);
  return repeats > 1 ? fmt::format("means ± standard deviations over {} repetitions", repeats)
                     : "means over prompts ± standard errors";
}

void run(BenchMethodsFlags flags, const CLI::App& command) {
  if (flags.list_presets) {
    if (flags.output.json) {
      print_json(lab::to_json(lab::presets()));
    } else {
      fmt::print("{}", lab::list_of(lab::presets()));
    }
    return;
  }
  MethodsPlan& plan = flags.plan;
  plan.choose(command);
  if (command.get_name() == "tune") {
    if (plan.preset() != nullptr)
      throw Failure(Status::usage, "bench tune chooses among settings that are given; a preset fixes them");
    flags.objective = need(find_named(bench::objectives, "objective", flags.objective_name));
    // Fail before a long run rather than after it.
    if (!std::ofstream(flags.chosen_file, std::ios::app))
      throw Failure(Status::usage, fmt::format("{} cannot be written", flags.chosen_file));
  }
  if (flags.seconds && !(*flags.seconds > 0.0))
    throw Failure(Status::usage, fmt::format("--seconds must be above 0, got {}", *flags.seconds));
  const bench::Preset* preset = plan.preset();
  if (preset != nullptr && !flags.seconds) flags.seconds = preset->seconds;
  const bool only_prompts = preset != nullptr && preset->columns.empty();
  const bool drafts_needed = plan.any_method([](const MethodRule& rule) { return rule.models.min > 0; });
  // Report errors before models are loaded.
  check_cells(plan, flags.model.drafts.size());
  flags.model.choose_bundled(plan.wants_several_drafts());
  if (drafts_needed && flags.model.drafts.empty())
    throw Failure(Status::usage, "the methods need a draft model: give -md FILE");
  plan.check_tree();
  if (preset != nullptr) ask_for_data(*preset, flags.prompts);
  std::vector<DataSet> data_sets = read_data_sets(flags.prompts, flags.count);
  std::vector<bench::Scorer> scorers;  // by data set
  for (DataSet& set : data_sets) {
    const auto columns = plan.columns(set.name);
    if (flags.prefix_words > 0) bench::keep_words(set.prompts, flags.prefix_words);
    scorers.push_back(only_prompts ? bench::Scorer{} : flags.score.scorer(set, columns.front()->score));
  }
  flags.resume.open();
  flags.output.open();

  const CostFile cost_file = cost_file_of(plan.method_flags(), true);
  ModelOptions options = flags.model.model_options();
  if (only_prompts) options.drafts.clear();
  options.load = draft_options_of(plan, flags.model, cost_file);
  const EngineModels models = need(EngineModels::load(options));
  const int threads = models.pool->threads();
  bench::Setup setup{models, flags.predict, 0, flags.ignore_eos,
                     flags.chat ? chat_renderer(models) : nullptr};
  std::vector<bench::Part> parts;
  for (std::size_t i = 0; i < data_sets.size(); ++i) {
    const DataSet& set = data_sets[i];
    parts.push_back({set.name, set.file, need(bench::tokenize(setup, set.prompts)), {}, {}, scorers[i]});
    if (!only_prompts) parts.back().cells = cells_of(plan, set.name, cost_file, models);
  }
  const Json sets = bench::data_sets_json(preset, parts);
  if (only_prompts) {
    const Json object = {{"preset", preset->name}, {"model", flags.model.model}, {"datasets", sets}};
    flags.output.print(object, sets, bench::preset_lines(preset) + "\n" + bench::lengths_table(sets));
    return;
  }
  warn_of_cuts(parts);
  const std::vector<std::uint64_t> seeds = plan.seeds();
  bench::EnergyMeter meter;
  const auto idle = meter.idle_watts();
  warm_up(setup, parts, flags.warm_up, meter);
  measure(setup, parts, seeds, flags.seconds, threads, meter, flags.resume);

  const bench::Results results = bench::results_of(preset, setup, parts, plan.relative_to());
  Json claims = preset == nullptr ? Json::array() : lab::claims_json(*preset);
  lab::add_measured(claims, results.rows);
  const Json chosen = flags.objective == nullptr ? Json() : choose(flags, results, parts);
  std::string table = fmt::format(
      "{}{}\n{}, {} threads, {}; energy: {}{}\nat most {} tokens an answer, seeds {}; {}\n{}",
      bench::preset_lines(preset), flags.model.model, processor_name(), threads, instruction_set(),
      meter.source(), idle ? fmt::format(", idle {:.1f} W", *idle) : "", flags.predict,
      fmt::join(seeds, ", "), spread_line(preset, seeds.size()), bench::results_text(sets, results));
  if (!claims.empty()) table += "\n" + lab::claims_table(claims);
  if (flags.objective != nullptr) {
    table += fmt::format("\nchosen by {}, kept in {}: run them with bench methods --column-file {}\n{}",
                         flags.objective->summary, flags.chosen_file, flags.chosen_file,
                         bench::methods_table(chosen));
  }
  Json draft_files = nullptr;
  if (flags.model.drafts.size() == 1) draft_files = flags.model.drafts.front();
  if (flags.model.drafts.size() > 1) draft_files = flags.model.drafts;
  Json object = {{"model", flags.model.model},
                 {"draft", draft_files},
                 {"threads", threads},
                 {"seeds", seeds},
                 {"predict", flags.predict},
                 {"datasets", sets},
                 {"reference", results.references},
                 {"rows", results.rows},
                 {"across", results.across}};
  if (!claims.empty()) object["claims"] = claims;
  if (flags.objective != nullptr) {
    object["objective"] = flags.objective->name;
    object["chosen"] = chosen;
  }
  flags.output.print(object, results.rows, table);
  std::vector<Picture> pictures;
  for (auto& [name, figure] : bench::method_figures(results.rows))
    pictures.push_back({name, std::move(figure)});
  flags.output.draw("methods", results.rows, pictures);
}

}  // namespace

namespace {

/// Adds a subcommand that measures methods, with the flags that are common to such commands.
CLI::App& add_measuring(CLI::App& bench, const std::string& name, const std::string& help,
                        const std::shared_ptr<BenchMethodsFlags>& flags) {
  CLI::App& command = *bench.add_subcommand(name, help);
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  flags->model.add_suffix_corpus(command);
  command
      .add_option(
          "--prompts", flags->prompts,
          "data sets, each FILE or NAME=FILE: .jsonl (an object per line) or .json (also a list of them) "
          "with "
          "prompt, turns or question, .csv with a column prompt, or a prompt per line (default: the bundled "
          "stories)")
      ->transform(file_name())
      ->type_name("[NAME=]FILE ...")
      ->expected(1, 1000);
  command.add_option("--count", flags->count, "prompts to use of each, the first ones; 0: all")
      ->transform(whole(0))
      ->capture_default_str();
  command
      .add_option("--prefix-words", flags->prefix_words,
                  "use the first N words of every prompt alone, for files of whole sentences; 0: all")
      ->transform(whole(0))
      ->capture_default_str();
  flags->score.add(command);
  command.add_option("-n,--predict,--n-predict", flags->predict, "max tokens of an answer")
      ->capture_default_str()
      ->transform(whole(1, 1L << 30));
  command
      .add_option("--seconds", flags->seconds,
                  "a method begins no answer after this many seconds; perplexity is that of the prompts that "
                  "plain decoding finishes in this time")
      ->transform(real());
  command
      .add_option("--warm-up", flags->warm_up,
                  "prompts that are answered before anything is measured; for energy at least a few seconds")
      ->transform(whole(0, 1'000'000))
      ->capture_default_str();
  command.add_flag("--ignore-eos", flags->ignore_eos, "go on after end-of-text tokens");
  command.add_flag("--chat", flags->chat, "prompts are what a user says: render them by the chat template");
  flags->resume.add(command);
  flags->plan.add(command);
  flags->output.add(command, true);
  command.callback([flags, &command] {
    check_variables(command);
    run(*flags, command);
  });
  return command;
}

}  // namespace

void add_bench_methods(CLI::App& bench) {
  auto flags = std::make_shared<BenchMethodsFlags>();
  CLI::App& command = add_measuring(
      bench, "methods", "Methods, plans, K and L over prompts, each beside plain decoding", flags);
  command.add_flag("--list-presets", flags->list_presets,
                   "print the cells of every preset with the papers' values; run nothing");
}

void add_bench_tune(CLI::App& bench) {
  auto flags = std::make_shared<BenchMethodsFlags>();
  CLI::App& command = add_measuring(
      bench, "tune", "Of every combination of settings the best of each method, on prompts kept for that",
      flags);
  command
      .add_option("--objective", flags->objective_name,
                  "what is best: " + names_of(bench::objectives, " or "))
      ->capture_default_str();
  command.add_option("--write", flags->chosen_file, "where the chosen settings are kept, as JSON")
      ->required()
      ->transform(file_name());
}

}  // namespace spectr::cli
