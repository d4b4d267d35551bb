// The program `spectr-lab`, which `spectr lab` runs.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/prompts.h"
#include "apps/bench/rouge.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/program.h"
#include "apps/cli/report/output.h"
#include "apps/cli/report/progress.h"
#include "lab/experiment.h"
#include "spectr/engine/bundled_models.h"

namespace spectr::lab {
namespace {

using namespace cli;

struct Flags {
  std::string name, folder, prompts, scorer;
  ModelFlags model;
  std::uint32_t seed = 10;
  std::optional<std::size_t> runs;
  std::size_t comparisons = 5;
  bool quick = false;
};

/// Returns the inputs of the experiments with models. Throws Failure.
StoryInputs story_inputs(const Flags& flags) {
  StoryInputs inputs;
  if (flags.model.drafts.size() > 1) {
    throw Failure(Status::usage,
                  fmt::format("the laboratory takes one draft model, got {}", flags.model.drafts.size()));
  }
  if (flags.model.model.empty() != flags.model.drafts.empty()) {
    throw Failure(Status::usage, "a pair of models needs both -m and -md");
  }
  if (!flags.model.model.empty()) {
    inputs.target = flags.model.model;
    inputs.draft = flags.model.drafts.front();
  } else {
    BundledModels models = need(bundled_models());
    inputs.target = std::move(models.target);
    inputs.draft = std::move(models.draft);
  }
  for (bench::Prompt& prompt :
       need(bench::read_prompts(need(data_file(flags.prompts, "stories.jsonl", "--prompts")), 0))) {
    inputs.prompts.push_back(std::move(prompt.turns.front()));
    inputs.references.push_back(std::move(prompt.reference));
  }
  inputs.similarity = bench::rouge_l;
  if (!flags.scorer.empty()) inputs.scorer = flags.scorer;
  return inputs;
}

void run(const Flags& flags) {
  std::vector<const Experiment*> chosen;
  if (flags.name == "all") {
    for (const Experiment& experiment : experiments()) chosen.push_back(&experiment);
  } else {
    chosen.push_back(need(find_experiment(flags.name)));
  }
  const bool models = std::ranges::any_of(chosen, &Experiment::reads_models);
  const StoryInputs stories = models ? story_inputs(flags) : StoryInputs{};
  prepare_folder(flags.folder);
  Context context{.threads = flags.model.thread_count(),
                  .seed = flags.seed,
                  .runs = flags.runs,
                  .quick = flags.quick,
                  .comparisons = flags.comparisons,
                  .stories = stories};
  // A picture that cannot be drawn must not prevent the other tables from being written.
  std::optional<Error> first_failure;
  for (const Experiment* experiment : chosen) {
    const std::string name(experiment->name);
    std::optional<Progress> line;
    context.progress = [&](std::size_t done, std::size_t total) {
      if (!line) line.emplace(name, total);
      line->at(done);
    };
    // A failure of an experiment with models means that a file cannot be used.
    const Status status = experiment->reads_models ? Status::usage : Status::failed;
    const Report report = need(experiment->run(context), status);
    if (line) line->done();
    fmt::print("{} ({}): {}\n{}", name, experiment->source, experiment->summary,
               summary_table(report.summary));
    std::fflush(stdout);
    if (auto written = write(report, name, flags.folder); !written && !first_failure) {
      first_failure = written.error();
    }
  }
  if (first_failure) throw Failure(Status::failed, first_failure->message);
}

void add_commands(CLI::App& app) {
  CLI::App& laboratory = *app.add_subcommand("lab", "The papers' figures and tables, computed again");
  laboratory.require_subcommand(1);
  laboratory.add_subcommand("list", "The experiments and what each reproduces")->callback([] {
    for (const Experiment& e : experiments()) fmt::print("{:<19} {} ({})\n", e.name, e.summary, e.source);
  });

  auto flags = std::make_shared<Flags>();
  CLI::App& command = *laboratory.add_subcommand(
      "run", "Writes NAME.csv, NAME.svg and NAME.png and prints our values beside the paper's");
  command.add_option("name", flags->name, "an experiment, or all")->required();
  command.add_option("--out", flags->folder, "folder for the files")
      ->required()
      ->transform(not_empty("name of the folder"));
  command.add_option("--seed", flags->seed, "of random laws and simulations")
      ->transform(whole(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  command
      .add_option("--runs", flags->runs,
                  "simulated texts, random pairs, or prompts (default: per experiment)")
      ->transform(whole(3, 100'000'000));
  command.add_flag("--quick", flags->quick, "little of everything: the whole laboratory in seconds");
  const std::string stories = "Stories (plans and opt-vs-uno)";
  flags->model.add_drafts(command);
  flags->model.add_model(command, false);
  // The figures must not depend on environment variables.
  for (const char* name : {"--model", "--model-draft"}) command.get_option(name)->envname("");
  flags->model.threads = 1;  // the models are small: one thread is fastest
  command.add_option("-t,--threads", flags->model.threads, "threads of the models; -1: all cores")
      ->capture_default_str()
      ->transform(thread_number());
  command.add_option("--comparisons", flags->comparisons, "of opt-vs-uno: texts of each kind per prompt")
      ->capture_default_str()
      ->transform(whole(1, 1'000'000))
      ->group(stories);
  command
      .add_option("--prompts", flags->prompts,
                  "file of beginnings, in a form that bench methods reads (default: the bundled stories)")
      ->transform(file_name())
      ->group(stories);
  command
      .add_option("--scorer", flags->scorer,
                  "of opt-vs-uno: GGUF file of a model that judges besides the target")
      ->transform(file_name())
      ->group(stories);
  command.callback([flags] { run(*flags); });
}

}  // namespace
}  // namespace spectr::lab

int main(int argc, char** argv) {
  // The commands appear as subcommands of `spectr lab` in help texts and errors.
  std::vector<std::string> arguments = {"lab"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return spectr::cli::run_program(std::move(arguments), spectr::lab::add_commands);
}
