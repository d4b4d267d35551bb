#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/mean.h"
#include "apps/bench/passes/pass_speed.h"
#include "apps/cli/commands/bench_resume.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/report/bench_output.h"
#include "apps/cli/report/output.h"
#include "apps/cli/report/progress.h"
#include "spectr/base/version.h"
#include "spectr/engine/costs/processor_name.h"

namespace spectr::cli {
namespace {

struct BenchPassesFlags {
  ModelFlags model;
  std::vector<std::size_t> prompts = {512}, generated = {128}, depths = {0};
  std::vector<int> threads;  // empty or -1: one per core
  std::size_t repetitions = 5;
  Resume resume;
  BenchOutput output;
};

/// Returns the sample standard deviation, as in llama-bench.
double deviation(const std::vector<double>& values) {
  return bench::mean_of(values).error.value_or(0.0) * std::sqrt(static_cast<double>(values.size()));
}

/// Returns the backend's name as in llama-bench.
std::string backend_of(const Transformer& model) {
  const std::string_view name = model.caps().backend;
  return name == "cpu" ? "CPU" : name == "cuda" ? "CUDA" : name == "vulkan" ? "Vulkan" : std::string(name);
}

/// Returns a row with llama-bench's fields.
Json row_of(const std::string& file, const Transformer& model, int threads, const bench::PassTest& test,
            const std::vector<double>& nanoseconds) {
  std::vector<double> speeds;
  for (double ns : nanoseconds)
    speeds.push_back(static_cast<double>(test.prompt + test.generated) / (ns * 1e-9));
  return {{"build_commit", version()},
          {"cpu_info", processor_name()},
          {"backends", backend_of(model)},
          {"model_filename", file},
          {"model_type", model.spec().name},
          {"model_size", model.file().tensor_bytes()},
          {"model_n_params", model.file().parameters()},
          {"n_threads", threads},
          {"n_prompt", test.prompt},
          {"n_gen", test.generated},
          {"n_depth", test.depth},
          {"avg_ns", bench::mean_of(nanoseconds).value},
          {"stddev_ns", deviation(nanoseconds)},
          {"avg_ts", bench::mean_of(speeds).value},
          {"stddev_ts", deviation(speeds)},
          {"samples_ns", nanoseconds},
          {"samples_ts", speeds}};
}

/// Formats llama-bench's Markdown table.
std::string markdown(const Json& rows) {
  std::string text =
      "| model | size | params | backend | threads | test | t/s |\n| --- | ---: | ---: | --- | ---: | ---: | "
      "---: |\n";
  for (const Json& row : rows) {
    const bench::PassTest test{row["n_prompt"], row["n_gen"], row["n_depth"]};
    text += fmt::format("| {} | {:.2f} MiB | {:.2f} M | {} | {} | {} | {:.2f} ± {:.2f} |\n",
                        row["model_type"].get<std::string>(), row["model_size"].get<double>() / 1048576.0,
                        row["model_n_params"].get<double>() * 1e-6, row["backends"].get<std::string>(),
                        row["n_threads"].dump(), test.name(), row["avg_ts"].get<double>(),
                        row["stddev_ts"].get<double>());
  }
  return text;
}

void run(BenchPassesFlags flags, bool prompts, bool generation) {
  flags.model.choose_bundled();
  std::vector<bench::PassTest> tests;
  for (std::size_t depth : flags.depths) {
    if (prompts) {
      for (std::size_t n : flags.prompts) tests.push_back({n, 0, depth});
    }
    if (generation) {
      for (std::size_t n : flags.generated) tests.push_back({0, n, depth});
    }
  }
  std::erase_if(tests, [](const bench::PassTest& t) { return t.prompt + t.generated == 0; });
  if (tests.empty()) {
    const char* zero = !generation ? "-p is 0" : !prompts ? "-n is 0" : "-p and -n are 0";
    throw Failure(Status::usage, fmt::format("no test is left: {}", zero));
  }
  if (std::ranges::count(flags.threads, 0) > 0)
    throw Failure(Status::usage, "-t: must be from 1 to 1024, or -1: one per core; got '0'");
  if (flags.threads.empty()) flags.threads = {-1};
  std::ranges::replace(flags.threads, -1, flags.model.thread_count());
  flags.resume.open();
  Json rows = Json::array();
  Progress progress("bench passes", flags.threads.size() * tests.size());
  for (int threads : flags.threads) {
    ModelOptions options = flags.model.target_options();
    options.threads = threads;
    const EngineModels models = need(EngineModels::load(options));
    for (const bench::PassTest& test : tests) {
      const Json key = {{"passes of", bench::identity_of(flags.model.model)},
                        {"test", {test.prompt, test.generated, test.depth}},
                        {"repetitions", flags.repetitions},
                        {"threads", threads}};
      rows.push_back(flags.resume.result(key, [&] {
        const auto times = need(bench::time_passes(*models.target, test, flags.repetitions));
        return row_of(flags.model.model, *models.target, threads, test, times);
      }));
      progress.at(rows.size());
    }
  }
  progress.done();
  flags.output.print(rows, rows, markdown(rows));
}

CLI::App& add(CLI::App& bench, const char* name, const char* what, BenchPassesFlags& flags) {
  CLI::App& command = *bench.add_subcommand(name, what);
  flags.model.add_model(command, false);
  flags.model.add_cache_types(command);
  add_list(command, "-p,--n-prompt", flags.prompts, "tokens of the prompts that are read", 0, 1 << 30);
  add_list(command, "-n,--n-gen", flags.generated, "tokens that are generated one by one", 0, 1 << 30);
  add_list(command, "-d,--n-depth", flags.depths, "tokens of context before them", 0, 1 << 30);
  add_list(command, "-t,--threads", flags.threads, "threads (default: one per core)", -1, 1024)
      ->envname("LLAMA_ARG_THREADS");
  command.add_option("-r,--repetitions", flags.repetitions, "of every test, after one that is not counted")
      ->capture_default_str()
      ->transform(whole(1, 1'000'000));
  flags.resume.add(command);
  flags.output.add(command, false, "print a JSON list with an object per test, as llama-bench does");
  return command;
}

}  // namespace

void add_bench_passes(CLI::App& bench) {
  auto flags = std::make_shared<BenchPassesFlags>();
  CLI::App& pp = add(bench, "pp", "Speed of reading prompts, as llama-bench measures and prints it", *flags);
  CLI::App& tg = add(bench, "tg", "Speed of generating one by one, likewise; together: bench pp tg", *flags);
  // Runs once, after both subcommands have been parsed.
  bench.callback([flags, &pp, &tg] {
    if (pp.parsed() || tg.parsed()) run(*flags, pp.parsed(), tg.parsed());
  });
}

}  // namespace spectr::cli
