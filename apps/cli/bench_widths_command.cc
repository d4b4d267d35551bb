#include <memory>
#include <string>

#include "apps/bench/presets.h"
#include "apps/bench/width_curve.h"
#include "apps/bench/width_report.h"
#include "apps/cli/bench_output.h"
#include "apps/cli/bench_resume.h"
#include "apps/cli/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/processor_name.h"
#include "apps/cli/progress.h"
#include "spectr/backend/cpu/machine_speed.h"

namespace spectr::cli {
namespace {

struct Flags {
  ModelFlags model;
  std::string preset;
  bench::WidthSettings settings;
  Resume resume;
  BenchOutput output;
};

/// The rows of all depths, each of which is kept as soon as it is there.
Json measure(const std::string& what, const std::string& file, const LoadedModel& model, Flags& flags,
             int threads, bench::EnergyMeter& meter) {
  const bench::WidthSettings& settings = flags.settings;
  Progress progress("bench widths, " + what, settings.depths.size() * settings.rounds);
  Json rows = Json::array();
  std::size_t before = 0;  // rounds of the depths before
  for (const std::size_t depth : settings.depths) {
    const Json key = {{"widths and weights of", bench::identity_of(file)},
                      {"widths", settings.widths},
                      {"depth", depth},
                      {"rounds", settings.rounds},
                      {"threads", threads}};
    bench::WidthSettings one = settings;
    one.depths = {depth};
    const Json measured = flags.resume.result(key, [&] {
      return need(bench::measure_widths(*model.transformer, one, meter,
                                        [&](std::size_t done, std::size_t) { progress.at(before + done); }));
    });
    rows.insert(rows.end(), measured.begin(), measured.end());
    progress.at(before += settings.rounds);
  }
  progress.done();
  return rows;
}

/// A table under a line about its model.
std::string section(const std::string& file, const Transformer& model, const Json& rows, double memory,
                    double integers) {
  const auto bytes = static_cast<double>(model.weight_bytes());
  const bench::Roofline roof{memory, static_cast<double>(model.macs_per_token()), integers};
  return fmt::format("\n{}: a pass of one row reads {:.1f} MB of weights\n{}", file, bytes * 1e-6,
                     bench::widths_table(rows, roof));
}

void run(Flags flags) {
  if (flags.model.drafts.size() > 1) throw Failure(Status::usage, "bench widths takes one draft model (-md)");
  if (!flags.preset.empty()) {
    const bench::Preset& preset = *need(bench::find_preset(flags.preset));
    if (preset.widths.empty()) {
      throw Failure(Status::usage,
                    fmt::format("--preset {} compares methods: spectr bench methods --preset {}", preset.name,
                                preset.name));
    }
    flags.settings.widths = preset.widths;
  }
  flags.model.choose_bundled();
  flags.resume.open();
  flags.output.open();
  ThreadPool pool(flags.model.thread_count());
  const LoadedModel target = need(load_model(flags.model.model, pool, flags.model.load_options()));
  const std::vector<LoadedModel> drafts = load_drafts(flags.model, target, pool, flags.model.load_options());
  bench::EnergyMeter meter;
  const auto idle = meter.idle_watts();
  const double memory = memory_bytes_per_second(pool), integers = integer_macs_per_second(pool);

  const Json rows = measure("target", flags.model.model, target, flags, pool.threads(), meter);
  Json object = {{"model", flags.model.model},
                 {"threads", pool.threads()},
                 {"read_gbps", memory * 1e-9},
                 {"integer_gops", integers * 1e-9},
                 {"widths", rows}};
  std::string table = fmt::format(
      "{}, {} threads, {}: memory is read at {:.1f} GB/s, {:.0f} thousand million integer products a second; "
      "energy: {}{}\n{}",
      processor_name(), pool.threads(), instruction_set(), memory * 1e-9, integers * 1e-9, meter.source(),
      idle ? fmt::format(", idle {:.1f} W", *idle) : "",
      section(flags.model.model, *target.transformer, rows, memory, integers));
  Json all = Json::array(), draft_rows = Json::array();
  const auto append = [&all](const std::string& file, const Json& some) {
    for (const Json& row : some) {
      all.push_back({{"model", file}});
      all.back().update(row);
    }
  };
  append(flags.model.model, rows);
  if (!drafts.empty()) {
    draft_rows = measure("draft", flags.model.drafts.front(), drafts.front(), flags, pool.threads(), meter);
    object["draft"] = flags.model.drafts.front();
    object["draft_widths"] = draft_rows;
    table += section(flags.model.drafts.front(), *drafts.front().transformer, draft_rows, memory, integers);
    append(flags.model.drafts.front(), draft_rows);
  }
  flags.output.print(object, all, table);
  flags.output.draw("widths", all, {{"widths", bench::widths_figure(rows, draft_rows)}});
}

}  // namespace

void add_bench_widths(CLI::App& bench) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *bench.add_subcommand(
      "widths", "Milliseconds of one pass against the nodes that it scores, beside the machine's limits");
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  auto* preset = add_preset(command, flags->preset);
  add_list(command, "--widths", flags->settings.widths, "nodes of a pass", 1, 1 << 30)->excludes(preset);
  add_list(command, "--depths", flags->settings.depths, "tokens of context before them", 0, 1 << 30);
  command.add_option("-r,--rounds", flags->settings.rounds, "rounds through all widths")
      ->capture_default_str()
      ->transform(whole(1, 10'000));
  flags->resume.add(command);
  flags->output.add(command, true);
  command.callback([flags] { run(*flags); });
}

}  // namespace spectr::cli
