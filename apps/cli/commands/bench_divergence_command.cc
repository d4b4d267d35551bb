#include <memory>
#include <string>
#include <vector>

#include "apps/bench/passes/divergence.h"
#include "apps/bench/prompts.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/report/bench_output.h"
#include "apps/cli/report/progress.h"
#include "apps/plot/data_table.h"
#include "spectr/engine/bundled_models.h"
#include "spectr/text/vocabulary_match.h"

namespace spectr::cli {
namespace {

struct BenchDivergenceFlags {
  ModelFlags model;
  std::string reference;
  std::string texts;
  std::size_t count = 0;
  BenchOutput output;
};

std::string table_of(const Json& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    lines.push_back({row["tokens_from"].is_null()
                         ? "all"
                         : fmt::format("{} to {}", row["tokens_from"].dump(), row["tokens_to"].dump()),
                     row["contexts"].dump(), fmt::format("{:.3g}", row["kl"].get<double>()),
                     fmt::format("{:.3g}", row["tv"].get<double>()),
                     fmt::format("{:.1f} %", 100.0 * row["same_top"].get<double>())});
  }
  return plot::aligned({"tokens of context", "contexts", "KL", "TV", "same top token"}, lines);
}

void run(const BenchDivergenceFlags& flags) {
  ModelOptions options = flags.model.target_options();
  const EngineModels model = need(EngineModels::load(options));
  options.target = flags.reference;
  const EngineModels reference = need(EngineModels::load(options));
  if (const auto same = same_vocabulary(reference.tokenizer->vocabulary(), model.tokenizer->vocabulary());
      !same) {
    throw Failure(Status::usage, fmt::format("{} and {} cannot be compared: {}", flags.model.model,
                                             flags.reference, same.error().message));
  }
  const auto texts =
      need(bench::read_prompts(need(data_file(flags.texts, "contexts.jsonl", "-f")), flags.count));
  std::vector<std::vector<Token>> contexts;
  for (const bench::Prompt& text : texts) contexts.push_back(model.tokenizer->encode(text.turns.front()));
  Progress progress("bench divergence", contexts.size());
  const Json rows = need(bench::measure_divergence(*model.target, *reference.target, contexts,
                                                   [&](std::size_t done) { progress.at(done); }));
  progress.done();
  flags.output.print({{"model", flags.model.model}, {"reference", flags.reference}, {"rows", rows}}, rows,
                     fmt::format("{} against {}, means of the next token's distribution\n{}",
                                 flags.model.model, flags.reference, table_of(rows)));
}

}  // namespace

void add_bench_divergence(CLI::App& bench) {
  auto flags = std::make_shared<BenchDivergenceFlags>();
  CLI::App& command =
      *bench.add_subcommand("divergence",
                            "How far a model's distributions are from a reference's, such as the same "
                            "weights in F32: KL divergence\n"
                            "in nats, total variation, and how often both have the same likeliest token");
  flags->model.add_model(command, true);
  command.add_option("--reference", flags->reference, "GGUF file to compare with")
      ->required()
      ->transform(not_empty("file"));
  flags->model.add_threads(command);
  flags->model.add_cache_types(command);
  command.add_option("-f,--texts", flags->texts,
                     "file of contexts: .jsonl, .json, .csv, or one per line (default: 250 bundled ones)");
  command.add_option("-n,--count", flags->count, "how many of them, the first ones; 0: all")
      ->capture_default_str()
      ->transform(whole(0, 1'000'000));
  flags->output.add(command, false);
  command.callback([flags] { run(*flags); });
}

}  // namespace spectr::cli
