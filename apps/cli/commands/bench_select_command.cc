#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/passes/block_times.h"
#include "apps/bench/passes/select_times.h"
#include "apps/cli/commands/bench_resume.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/report/bench_output.h"
#include "apps/cli/report/progress.h"
#include "apps/plot/data_table.h"

namespace spectr::cli {
namespace {

struct BenchSelectFlags {
  bench::SelectSettings settings;
  std::vector<std::string> methods;  // measured instead of plans, if given
  std::vector<std::size_t> lengths = {4};
  Resume resume;
  BenchOutput output;
};

std::string microseconds(const Json& value) {
  return value.is_null() ? "-" : fmt::format("{:.4g}", value.get<double>());
}

/// Measures all vocabularies. The rows of each are stored as soon as it is finished.
Json measure(BenchSelectFlags& flags) {
  const bench::SelectSettings& settings = flags.settings;
  std::unique_ptr<Progress> progress;
  Json rows = Json::array();
  std::size_t vocabularies = 0;  // number of finished vocabularies
  for (const std::size_t vocabulary : settings.vocabularies) {
    bench::SelectSettings one = settings;
    one.vocabularies = {vocabulary};
    const Json key = {{"selection of every kind of laws by", settings.plans},
                      {"vocabulary", vocabulary},
                      {"drafts", settings.drafts},
                      {"seed", settings.seed}};
    const Json measured = flags.resume.result(key, [&] {
      return need(bench::measure_selection(one, [&](std::size_t done, std::size_t of_one) {
        if (!progress)
          progress = std::make_unique<Progress>("bench select", of_one * settings.vocabularies.size());
        progress->at(vocabularies * of_one + done);
      }));
    });
    rows.insert(rows.end(), measured.begin(), measured.end());
    ++vocabularies;
  }
  if (progress) progress->done();
  return rows;
}

/// Measures blocks of methods instead of plans.
void run_blocks(BenchSelectFlags& flags) {
  const bench::BlockSettings settings = {.methods = flags.methods,
                                         .vocabularies = flags.settings.vocabularies,
                                         .drafts = flags.settings.drafts,
                                         .lengths = flags.lengths,
                                         .seed = flags.settings.seed};
  const Json key = {{"selection of blocks by", settings.methods},
                    {"vocabularies", settings.vocabularies},
                    {"drafts", settings.drafts},
                    {"lengths", settings.lengths},
                    {"seed", settings.seed}};
  std::unique_ptr<Progress> progress;
  const Json rows = flags.resume.result(key, [&] {
    return need(bench::measure_blocks(settings, [&](std::size_t done, std::size_t total) {
      if (!progress) progress = std::make_unique<Progress>("bench select", total);
      progress->at(done);
    }));
  });
  if (progress) progress->done();
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    lines.push_back({row["method"].get<std::string>(), row["vocab"].dump(), row["laws"].get<std::string>(),
                     row["filters"].get<std::string>(), row["k"].dump(), row["length"].dump(),
                     microseconds(row["block_us"]), microseconds(row["verify_us"]),
                     fmt::format("{:.2f}", row["tokens"].get<double>())});
  }
  flags.output.print(
      {{"rows", rows}}, rows,
      plot::aligned({"method", "V", "laws", "filters", "K", "L", "block µs", "verify µs", "tokens"}, lines));
}

void run(BenchSelectFlags flags) {
  flags.resume.open();
  if (!flags.methods.empty()) {
    run_blocks(flags);
    return;
  }
  const Json rows = measure(flags);
  std::vector<std::vector<std::string>> lines;
  std::string reasons;
  for (const Json& row : rows) {
    lines.push_back({row["plan"].get<std::string>(), row["vocab"].dump(), row["laws"].get<std::string>(),
                     row["filters"].get<std::string>(), row["k"].dump(), microseconds(row["build_us"]),
                     microseconds(row["select_us"])});
    if (!row["error"].is_null()) {
      reasons += fmt::format("{}, V {}, k {}: {}\n", row["plan"].get<std::string>(), row["vocab"].dump(),
                             row["k"].dump(), row["error"].get<std::string>());
    }
  }
  const std::string table =
      plot::aligned({"plan", "V", "laws", "filters", "k", "build µs", "select µs"}, lines);
  flags.output.print({{"rows", rows}}, rows, reasons.empty() ? table : table + "\n" + reasons);
}

}  // namespace

void add_bench_select(CLI::App& bench) {
  auto flags = std::make_shared<BenchSelectFlags>();
  CLI::App& command = *bench.add_subcommand("select",
                                            "Microseconds that every plan takes to be built and to select, "
                                            "by vocabulary, laws, filters and drafts");
  auto* plans =
      command.add_option("--plan", flags->settings.plans, "plans, separated by commas (default: all)")
          ->delimiter(',');
  auto* methods =
      command
          .add_option("--method", flags->methods,
                      "measure the selection of whole blocks by these methods instead, separated by commas: "
                      "the target's distributions and the verifier, and the verifier alone")
          ->delimiter(',')
          ->excludes(plans);
  add_list(command, "-L", flags->lengths, "with --method: tokens per draft", 1, 64)->needs(methods);
  add_list(command, "-V,--vocab", flags->settings.vocabularies, "sizes of the vocabulary", 2, 10'000'000);
  add_list(command, "-K", flags->settings.drafts, "drafts", 1, 4096);
  command.add_option("--seed", flags->settings.seed, "of the laws")
      ->transform(whole(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  flags->resume.add(command);
  flags->output.add(command, false);
  command.callback([flags] { run(*flags); });
}

}  // namespace spectr::cli
