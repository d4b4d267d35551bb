#include <memory>
#include <optional>
#include <string>

#include "apps/bench/methods/presets.h"
#include "apps/bench/passes/batch_curve.h"
#include "apps/bench/passes/pass_fit.h"
#include "apps/bench/passes/width_curve.h"
#include "apps/bench/passes/width_report.h"
#include "apps/cli/commands/bench_resume.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/report/bench_output.h"
#include "apps/cli/report/progress.h"
#include "lab/presets/presets.h"
#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/engine/costs/processor_name.h"
#include "spectr/engine/devices.h"

namespace spectr::cli {
namespace {

struct BenchWidthsFlags {
  ModelFlags model;
  std::string preset;
  bench::WidthSettings settings;
  bench::BatchSettings batches;  // measured instead if it has lengths
  std::optional<std::size_t> runs;
  Resume resume;
  BenchOutput output;
};

/// The processor or device that a model runs on.
struct MeasuredMachine {
  std::string device;              ///< name; empty: the processor
  std::string line;                ///< description with its measured speed
  double memory;                   ///< bytes read per second; for a device, read and written by a copy
  std::optional<double> integers;  ///< macs per second, if measured

  Json device_or_null() const { return device.empty() ? Json() : Json(device); }
};

MeasuredMachine machine_of(const std::string& device, ThreadPool& pool, bench::EnergyMeter& meter) {
  if (!device.empty()) {
    const double speed = need(copy_speed(device));
    return {
        device,
        fmt::format("{}: a copy reads and writes {:.0f} GB/s\n", need(description_of(device)), speed * 1e-9),
        speed,
        {}};
  }
  const double memory = memory_bytes_per_second(pool), integers = integer_macs_per_second(pool);
  const auto idle = meter.idle_watts();
  return {"",
          fmt::format("{}, {} threads, {}: memory is read at {:.1f} GB/s, {:.0f} thousand million integer "
                      "products a second; energy: {}{}\n",
                      processor_name(), pool.threads(), instruction_set(), memory * 1e-9, integers * 1e-9,
                      meter.source(), idle ? fmt::format(", idle {:.1f} W", *idle) : ""),
          memory, integers};
}

/// Measures all depths. The rows of each are stored as soon as it is finished.
Json measure(const std::string& what, const std::string& file, const Transformer& model,
             BenchWidthsFlags& flags, const MeasuredMachine& machine, int threads,
             bench::EnergyMeter& meter) {
  const bench::WidthSettings& settings = flags.settings;
  Progress progress("bench widths, " + what, settings.depths.size() * settings.rounds);
  Json rows = Json::array();
  std::size_t before = 0;  // rounds of previous depths
  for (const std::size_t depth : settings.depths) {
    const Json key = {{"widths and weights of", bench::identity_of(file)},
                      {"widths", settings.widths},
                      {"depth", depth},
                      {"rounds", settings.rounds},
                      {"device", machine.device_or_null()},
                      {"threads", threads}};
    bench::WidthSettings one = settings;
    one.depths = {depth};
    const Json measured = flags.resume.result(key, [&] {
      return need(bench::measure_widths(model, one, meter,
                                        [&](std::size_t done, std::size_t) { progress.at(before + done); }));
    });
    rows.insert(rows.end(), measured.begin(), measured.end());
    progress.at(before += settings.rounds);
  }
  progress.done();
  return rows;
}

/// Formats a table below a line about its model.
std::string section(const std::string& file, const Transformer& model, const Json& rows,
                    const MeasuredMachine& machine) {
  const auto bytes = static_cast<double>(model.weight_bytes());
  const bench::Roofline roof{machine.memory, static_cast<double>(model.macs_per_token()), machine.integers};
  return fmt::format("\n{}: a pass of one row reads {:.1f} MB of weights\n{}", file, bytes * 1e-6,
                     bench::widths_table(rows, roof));
}

/// Measures passes over batches, stores the rows, and adds the paper's values.
Json measure_batches(const char* what, const std::string& file, const Transformer& model,
                     BenchWidthsFlags& flags, std::optional<double> base_ms,
                     const std::vector<bench::PrintedPass>& printed, const MeasuredMachine& machine,
                     int threads, bench::EnergyMeter& meter) {
  const bench::BatchSettings& settings = flags.batches;
  Progress progress(fmt::format("bench widths, {}", what),
                    settings.lengths.size() * settings.batches.size() * settings.runs);
  const Json key = {
      {"batches of", bench::identity_of(file)}, {"lengths", settings.lengths}, {"batches", settings.batches},
      {"independent", settings.independent},    {"runs", settings.runs},       {"depth", settings.depth},
      {"device", machine.device_or_null()},     {"threads", threads}};
  Json rows = flags.resume.result(key, [&] {
    return need(bench::measure_batches(model, settings, base_ms, meter,
                                       [&](std::size_t done, std::size_t) { progress.at(done); }));
  });
  progress.done();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (base_ms) rows[i]["relative"] = rows[i]["mean_ms"].get<double>() / *base_ms;  // target of this run
    rows[i]["paper"] = i < printed.size()
                           ? bench::to_json(printed[i], need(lab::find_preset(flags.preset))->source)
                           : Json(nullptr);
  }
  return rows;
}

/// Fills in the settings of the preset. Throws Failure if it does not measure passes.
const bench::PassTable* passes_of(BenchWidthsFlags& flags) {
  if (flags.preset.empty()) return nullptr;
  const bench::Preset& preset = *need(lab::find_preset(flags.preset));
  if (!preset.passes) {
    throw Failure(Status::usage, fmt::format("--preset {} compares methods: spectr bench methods --preset {}",
                                             preset.name, preset.name));
  }
  const std::size_t runs = flags.runs.value_or(preset.passes->settings.runs);
  flags.batches = preset.passes->settings;
  flags.batches.runs = runs;
  return &*preset.passes;
}

void run(BenchWidthsFlags flags) {
  if (flags.model.drafts.size() > 1) throw Failure(Status::usage, "bench widths takes one draft model (-md)");
  const bench::PassTable* preset = passes_of(flags);
  if (preset == nullptr && flags.runs) flags.batches.runs = *flags.runs;
  flags.batches.depth = flags.settings.depths.front();
  const bool batches = !flags.batches.lengths.empty();
  if (batches && flags.settings.depths.size() > 1)
    throw Failure(Status::usage, "bench widths --lengths takes one depth");
  flags.model.choose_bundled();
  flags.resume.open();
  flags.output.open();
  const EngineModels models = need(EngineModels::load(flags.model.model_options()));
  ThreadPool& pool = *models.pool;
  bench::EnergyMeter meter;
  const MeasuredMachine of_target = machine_of(flags.model.device.target, pool, meter);
  const std::string& draft_device = flags.model.device.of_drafts();
  const bool is_elsewhere = !models.drafts.empty() && draft_device != of_target.device;
  const MeasuredMachine of_draft = is_elsewhere ? machine_of(draft_device, pool, meter) : of_target;
  std::string table = of_target.line;
  if (preset != nullptr) {
    const bench::Preset& of = *need(lab::find_preset(flags.preset));
    table = fmt::format("{}: {}\npaper: printed values of {}, not measured here ({})\n", of.name, of.summary,
                        of.source, of.models) +
            table;
  }

  Json all = Json::array();
  const auto append = [&all](const std::string& file, const Json& some) {
    for (const Json& row : some) {
      all.push_back({{"model", file}});
      all.back().update(row);
    }
  };
  std::optional<double> base_ms;  // first cell of the target
  const auto measured = [&](const char* what, const std::string& file, const Transformer& model,
                            const MeasuredMachine& machine) {
    if (!batches) {
      const Json rows = measure(what, file, model, flags, machine, pool.threads(), meter);
      table += section(file, model, rows, machine);
      append(file, rows);
      return rows;
    }
    const bool is_draft = base_ms.has_value();
    const std::vector<bench::PrintedPass> printed = preset == nullptr ? std::vector<bench::PrintedPass>{}
                                                    : is_draft        ? preset->draft
                                                                      : preset->target;
    const Json rows =
        measure_batches(what, file, model, flags, base_ms, printed, machine, pool.threads(), meter);
    if (!is_draft) base_ms = rows.front()["mean_ms"].get<double>();
    table += fmt::format("\n{}{}\n{}", file, flags.batches.independent ? ", independent texts" : "",
                         bench::batches_table(rows)) +
             bench::decomposition_text(bench::decomposition_of(rows));
    append(file, rows);
    return rows;
  };
  const Json rows = measured("target", flags.model.model, *models.target, of_target);
  Json object = {{"model", flags.model.model},
                 {"threads", pool.threads()},
                 {"device", of_target.device_or_null()},
                 {"read_gbps", of_target.memory * 1e-9},
                 {"integer_gops", of_target.integers ? Json(*of_target.integers * 1e-9) : Json()},
                 {"widths", rows}};
  if (batches) object["decomposition"] = bench::decomposition_of(rows);
  Json draft_rows = Json::array();
  if (!models.drafts.empty()) {
    if (is_elsewhere) table += "\n" + of_draft.line;
    draft_rows = measured("draft", flags.model.drafts.front(), *models.drafts.front(), of_draft);
    object["draft"] = flags.model.drafts.front();
    object["draft_widths"] = draft_rows;
  }
  flags.output.print(object, all, table);
  std::vector<Picture> pictures;
  if (!batches) pictures.push_back({"widths", bench::widths_figure(rows, draft_rows)});
  flags.output.draw("widths", all, pictures);
}

}  // namespace

void add_bench_widths(CLI::App& bench) {
  auto flags = std::make_shared<BenchWidthsFlags>();
  CLI::App& command = *bench.add_subcommand(
      "widths", "Milliseconds of one pass against the nodes that it scores, beside the machine's limits");
  flags->model.add_model(command, false);
  flags->model.add_drafts(command);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  auto* preset = add_preset(command, flags->preset);
  auto* widths =
      add_list(command, "--widths", flags->settings.widths, "nodes of a pass", 1, 1 << 30)->excludes(preset);
  add_list(command, "--lengths", flags->batches.lengths,
           "instead: passes over a batch of sequences of these lengths, drafts of one text in a tree", 1,
           1 << 20)
      ->excludes(preset)
      ->excludes(widths);
  add_list(command, "--batches", flags->batches.batches, "sequences of such a pass", 1, 1 << 20)
      ->excludes(preset)
      ->excludes(widths);
  command
      .add_flag("--independent", flags->batches.independent,
                "they are texts of their own, each with its cache")
      ->excludes(preset)
      ->excludes(widths);
  command
      .add_option("--runs", flags->runs, "passes of every length and batch (default: the preset's, else 100)")
      ->transform(whole(1, 1'000'000))
      ->excludes(widths);
  add_list(command, "--depths", flags->settings.depths, "tokens of context before them", 0, 1 << 30);
  command.add_option("-r,--rounds", flags->settings.rounds, "rounds through all widths")
      ->capture_default_str()
      ->transform(whole(1, 10'000));
  flags->resume.add(command);
  flags->output.add(command, true);
  command.callback([flags] { run(*flags); });
}

}  // namespace spectr::cli
