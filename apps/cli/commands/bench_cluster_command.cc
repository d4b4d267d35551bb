#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/passes/cluster_curve.h"
#include "apps/bench/passes/network.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/report/bench_output.h"
#include "apps/cli/report/progress.h"
#include "apps/plot/data_table.h"
#include "spectr/engine/costs/processor_name.h"

namespace spectr::cli {
namespace {

struct BenchClusterFlags {
  ModelFlags model;
  bench::ClusterSettings settings;
  double read_gbps = 0.0;  // memory bandwidth of extrapolated machines; 0: as measured
  BenchOutput output;
};

/// Formats milliseconds with three significant digits, or with all digits before the decimal point.
std::string ms(const Json& value) {
  const auto number = value.get<double>();
  return fmt::format("{:.{}f}", number, number < 10.0 ? 2 : number < 100.0 ? 1 : 0);
}

std::string exchanges_table(const Json& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    lines.push_back({row["ranks"].dump(), row["bytes"].dump(),
                     fmt::format("{:.1f}", row["sum_us"].get<double>()),
                     fmt::format("{:.1f}", row["hop_us"].get<double>())});
  }
  return plot::aligned({"ranks", "bytes", "sum, µs", "message, µs"}, lines);
}

std::string passes_table(const Json& rows) {
  std::vector<std::vector<std::string>> lines;
  std::string refused;
  for (const Json& row : rows) {
    const std::string split = row["split"].is_null() ? "" : row["split"].get<std::string>();
    if (row.contains("error")) {
      refused += fmt::format("{} ranks, split {}: {}\n", row["ranks"].dump(), split,
                             row["error"].get<std::string>());
      continue;
    }
    lines.push_back({row["ranks"].dump(), split, row["width"].dump(), ms(row["computing_ms"]),
                     row["exchanges"].dump(), fmt::format("{:.1f}", row["exchange_us"].get<double>()),
                     ms(row["predicted_ms"]), ms(row["ms"]),
                     fmt::format("{:.2f}", row["ms"].get<double>() / row["predicted_ms"].get<double>())});
  }
  return plot::aligned({"ranks", "split", "rows", "computing, ms", "exchanges", "µs each", "predicted, ms",
                        "measured, ms", "measured / predicted"},
                       lines) +
         refused;
}

/// Formats one line per model, network and number of machines, for both widths.
std::string extrapolated_table(const Json& rows) {
  std::vector<std::vector<std::string>> lines;
  for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
    const Json &one = rows[i], &eight = rows[i + 1];
    const auto least = [](const Json& row) {
      return std::min(row["row_ms"].get<double>(), row["layer_ms"].get<double>());
    };
    const auto up_to = [](const Json& row) {
      return fmt::format("{:.0f}", std::max(row["break_even_us"].get<double>(), 0.0));
    };
    lines.push_back(
        {one["model"].get<std::string>(),
         fmt::format("{:.0f} Gbit/s, {:.0f} µs", one["gbps"].get<double>(), one["latency_us"].get<double>()),
         one["machines"].dump(), ms(one["row_ms"]), ms(one["layer_ms"]), ms(eight["row_ms"]),
         ms(eight["layer_ms"]), fmt::format("{:.2f}", least(eight) / least(one)), up_to(one), up_to(eight)});
  }
  return "The last columns: up to which latency split row is the faster one.\n" +
         plot::aligned({"model", "network", "machines", "1 row: row", "layer", "8 rows: row", "layer",
                        "8 rows / 1", "1 row: µs", "8 rows: µs"},
                       lines);
}

/// Returns the measurements of one rank, the basis of the extrapolation to other machines.
bench::OneRank one_rank(const Transformer& model, const Json& passes, double read_gbps) {
  const auto seconds = [&](std::size_t width) {
    const auto row = std::ranges::find_if(passes, [width](const Json& one) { return one["width"] == width; });
    return (*row)["ms"].get<double>() * 1e-3;
  };
  const auto bytes = static_cast<double>(model.weight_bytes());
  return {8.0 * bytes / static_cast<double>(model.macs_per_token()),
          read_gbps > 0.0 ? read_gbps * 1e9 : bytes / seconds(1), seconds(8) / seconds(1)};
}

/// Measures with 1, 2, … of the ranks.
class Measuring {
 public:
  explicit Measuring(const BenchClusterFlags& flags)
      : flags_(flags),
        options_(flags.model.target_options()),
        progress_("bench cluster", 2 * flags.model.ranks.count() - 1) {}

  void run() {
    const RankFlags& ranks = flags_.model.ranks;
    for (std::size_t count = 1; count <= ranks.count(); ++count) {
      bool knows_exchanges = count == 1;
      for (const Split split : {Split::rows, Split::layers}) {
        if (count == 1 && split == Split::layers) continue;
        if (count > 1 && ranks.split == (split == Split::rows ? "layer" : "row")) continue;
        measure(count, split, knows_exchanges);
        progress_.at(++done_);
      }
    }
    progress_.done();
  }

  int threads() const { return options_.threads; }

  Json exchanges = Json::array(), passes = Json::array();
  bench::OneRank alone{};

 private:
  void measure(std::size_t count, Split split, bool& knows_exchanges) {
    options_.load.sharing = flags_.model.ranks.first(count, split, threads());
    const auto model = EngineModels::load(options_);
    if (!model && count == 1) throw Failure(Status::usage, model.error().message);
    if (!model) {
      passes.push_back({{"ranks", count},
                        {"split", split == Split::rows ? "row" : "layer"},
                        {"error", model.error().message}});
      return;
    }
    if (!knows_exchanges) append(exchanges, need(bench::measure_exchanges(*model->ranks)));
    knows_exchanges = true;
    const Json rows =
        need(bench::measure_shared_passes(*model->target, model->ranks.get(), split, flags_.settings));
    if (count == 1) alone = one_rank(*model->target, rows, flags_.read_gbps);
    append(passes, rows);
  }
  static void append(Json& all, const Json& rows) { all.insert(all.end(), rows.begin(), rows.end()); }

  const BenchClusterFlags& flags_;
  ModelOptions options_;
  Progress progress_;
  std::size_t done_ = 0;
};

void run(BenchClusterFlags flags) {
  flags.model.choose_bundled();
  for (const std::size_t width : {1, 8}) {
    if (std::ranges::find(flags.settings.widths, width) == flags.settings.widths.end())
      flags.settings.widths.push_back(width);
  }
  std::ranges::sort(flags.settings.widths);
  Measuring measuring(flags);
  measuring.run();
  const bench::OneRank& alone = measuring.alone;
  const Json extrapolated = bench::extrapolate(alone);
  std::string table = fmt::format("{}, {} threads a rank: {}, behind {} tokens\n", processor_name(),
                                  measuring.threads(), flags.model.model, flags.settings.depth);
  if (!measuring.exchanges.empty()) {
    table += "\nExchanges between ranks: a sum over all, and a message from one to the next\n" +
             exchanges_table(measuring.exchanges);
  }
  table += "\nPasses: what ranks compute, and what they exchange\n" + passes_table(measuring.passes);
  table += fmt::format(
      "\nExtrapolated, not measured: milliseconds of passes of larger models at {:.2f} bits a weight, on "
      "machines "
      "that read\n{:.3g} GB/s of weights{}, where eight rows take {:.2f} times as long as one\n{}",
      alone.bits_per_weight, alone.bytes_per_second * 1e-9,
      flags.read_gbps > 0.0 ? "" : " as this rank alone", alone.relative_eight_rows,
      extrapolated_table(extrapolated));
  flags.output.print({{"model", flags.model.model},
                      {"threads", measuring.threads()},
                      {"ranks", flags.model.ranks.count()},
                      {"depth", flags.settings.depth},
                      {"exchanges", measuring.exchanges},
                      {"passes", measuring.passes},
                      {"bits_per_weight", alone.bits_per_weight},
                      {"read_gbps", alone.bytes_per_second * 1e-9},
                      {"relative_eight_rows", alone.relative_eight_rows},
                      {"extrapolated", extrapolated}},
                     measuring.passes, table);
}

}  // namespace

void add_bench_cluster(CLI::App& bench) {
  auto flags = std::make_shared<BenchClusterFlags>();
  CLI::App& command = *bench.add_subcommand(
      "cluster",
      "What passes cost on one rank, two, and so on, beside what computing and messages predict; and what "
      "larger models would cost\non several machines (see --ranks and --shard)");
  flags->model.add_model(command, false);
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  add_list(command, "--widths", flags->settings.widths, "rows of a pass; 1 and 8 are always among them", 1,
           1 << 20);
  command.add_option("--depth", flags->settings.depth, "tokens of context before them")
      ->capture_default_str()
      ->transform(whole(0, 1 << 30));
  command
      .add_option("-r,--rounds", flags->settings.rounds,
                  "rounds through all widths, of which the fastest count")
      ->capture_default_str()
      ->transform(whole(1, 10'000));
  command
      .add_option("--read-gbps", flags->read_gbps,
                  "GB of weights that a machine of the extrapolation reads a second (default: as measured)")
      ->check(CLI::PositiveNumber);
  flags->output.add(command, false);
  command.callback([flags] { run(*flags); });
}

}  // namespace spectr::cli
