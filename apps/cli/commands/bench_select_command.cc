#include <limits>
#include <memory>
#include <string>
#include <vector>

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
  Resume resume;
  BenchOutput output;
};

std::string microseconds(const Json& value) {
  return value.is_null() ? "-" : fmt::format("{:.4g}", value.get<double>());
}

/// The rows of all vocabularies, each of which is kept as soon as it is there.
Json measure(BenchSelectFlags& flags) {
  const bench::SelectSettings& settings = flags.settings;
  std::unique_ptr<Progress> progress;
  Json rows = Json::array();
  std::size_t vocabularies = 0;  // before this one
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

void run(BenchSelectFlags flags) {
  flags.resume.open();
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
  command.add_option("--plan", flags->settings.plans, "plans, separated by commas (default: all)")
      ->delimiter(',');
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
