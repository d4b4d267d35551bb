#include "spectr/engine/costs/cost_file.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/base/check.h"
#include "spectr/base/hash.h"
#include "spectr/base/version.h"
#include "spectr/decode/costs/measure_costs.h"
#include "spectr/engine/costs/cost_json.h"
#include "spectr/engine/costs/processor_name.h"
#include "spectr/engine/costs/slim_trial.h"

namespace spectr {
namespace {

/// Returns a hash of the formats and shapes of all weights, which determine the cost of passes.
std::uint64_t layout_of(const ModelSpec& spec) {
  Fnv1a hash;
  for (const WeightSpec& weight : spec.weights) {
    hash.add(static_cast<std::uint64_t>(weight.type));
    hash.add(weight.rows);
    hash.add(weight.cols);
  }
  return hash.value();
}

std::string machine(int threads) {
  return fmt::format("{} threads | {} with {} | spectr {} build {:016x}", threads, processor_name(),
                     instruction_set(), version(), build_identity());
}

std::string describe(const Transformer& model) {
  const std::string place = model.place();
  return fmt::format("{} ({} bytes of weights, layout {:016x}, keys {}, values {}{})", model.spec().name,
                     model.weight_bytes(), layout_of(model.spec()), name_of(model.kv().keys),
                     name_of(model.kv().values), place.empty() ? "" : ", on " + place);
}

/// Returns the key of an entry: the models, the target first, and the machine.
std::string key_of(const Transformer& target, std::span<const Transformer* const> drafts,
                   const TrainedDrafter* trained, int threads) {
  std::string key = describe(target) + " | ";
  for (const Transformer* draft : drafts) key += describe(*draft) + " | ";
  if (trained != nullptr) {
    const DrafterSpec& spec = trained->spec();
    const std::size_t rows = spec.block ? spec.block->rows : 0;
    key += fmt::format("{} ({}, {} rows, layout {:016x}) | ", spec.model.name, spec.kind, rows,
                       layout_of(spec.model));
  }
  return key + machine(threads);
}

/// Estimates the seconds of a measurement: three or more, or one round of passes over all models.
int seconds_to_measure(const Transformer& target, std::span<const Transformer* const> drafts) {
  constexpr double bytes_per_second = 2e8;  // of weights, over all passes of a round
  std::size_t bytes = 0;
  if (target.place().empty()) bytes += target.weight_bytes();
  for (const Transformer* draft : drafts) bytes += draft->place().empty() ? draft->weight_bytes() : 0;
  return std::max(5, static_cast<int>(static_cast<double>(bytes) / bytes_per_second));
}

/// Measures the costs of passes.
Result<CostEntry> measure(const Transformer& target, std::span<const Transformer* const> drafts,
                          const TrainedDrafter* trained, const CostFileOptions& options) {
  options.tell(fmt::format("measuring this machine once, about {} s", seconds_to_measure(target, drafts)));
  std::vector<FollowTarget> drafters;
  if (trained != nullptr) {
    drafters.emplace_back(
        [trained](Session& followed, std::size_t nodes) -> Result<std::unique_ptr<Session>> {
          SPECTR_TRY(std::unique_ptr<Session> session, trained->follow(followed, {.nodes = nodes}));
          return session;
        });
  }
  auto measured = measure_costs(
      target, std::vector<const LanguageModel*>(drafts.begin(), drafts.end()),
      [&](double share) { options.progress("measuring", share); }, drafters);
  options.progress("measuring", 1.0);
  if (!measured) return std::unexpected(std::move(measured.error()));
  CostEntry entry{std::move(measured->costs)};
  if (measured->disturbed()) entry.disturbed = measured->spread;
  return entry;
}

/// Tries the file as it is and the smallest variant; the other one would take as long to load again.
Result<SlimTrials> try_draft(const Transformer& target, const Tokenizer& tokenizer,
                             const std::filesystem::path& draft, ThreadPool& pool, const LoadOptions& load,
                             const CostFileOptions& options) {
  const std::span<const SlimOptions> variants = slim_variants().first(2);
  options.tell("trying once whether a smaller draft model is faster here");
  auto trials = try_slim(target, tokenizer, draft, pool, load, variants, [&](std::size_t done) {
    options.progress("trying", static_cast<double>(done) / static_cast<double>(variants.size()));
  });
  options.progress("trying", 1.0);
  return trials;
}

}  // namespace

CostFile::CostFile(CostFileOptions options)
    : options_(std::move(options)), file_(options_.path, options_.tell) {
  if (!options_.tell) options_.tell = [](const std::string&) {};
  if (!options_.progress) options_.progress = [](std::string_view, double) {};
}

Result<ChosenDraft> CostFile::slim(const Transformer& target, const Tokenizer& tokenizer,
                                   const std::filesystem::path& draft, ThreadPool& pool,
                                   const LoadOptions& options) const {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(draft, unknown);
  if (unknown || bytes < min_bytes_to_slim) return ChosenDraft();
  const std::string key = fmt::format("a draft of {} bytes, {} | for {} | {}", bytes,
                                      draft.filename().string(), describe(target), machine(pool.threads()));
  ChosenDraft chosen;
  SPECTR_TRY(const auto entry,
             file_.entry(
                 key, [](std::string_view json) { return chosen_slimming(json).has_value(); },
                 [&]() -> Result<std::string> {
                   SPECTR_TRY(SlimTrials trials,
                              try_draft(target, tokenizer, draft, pool, options, options_));
                   std::string kept = json_of(trials, target.spec().name);
                   chosen.model = std::move(trials.model);
                   return kept;
                 }));
  chosen.options = chosen_slimming(entry.json).value_or(SlimOptions());
  return chosen;
}

LoadOptions CostFile::with_slim_drafts(LoadOptions options) const {
  if (!options.draft_device.empty()) return options;
  LoadOptions silent = options;
  silent.progress = {};  // trials report their own progress
  options.choose_draft = [file = *this, plain = std::move(silent)](
                             const Transformer& target, const Tokenizer& tokenizer,
                             const std::filesystem::path& draft,
                             ThreadPool& pool) { return file.slim(target, tokenizer, draft, pool, plain); };
  return options;
}

Result<void> CostFile::keep(const Transformer& target, std::span<const Transformer* const> drafts,
                            int threads, const CostCheck& check, std::span<const Learned> learned,
                            const TrainedDrafter* trained) const {
  return file_.change(key_of(target, drafts, trained, threads), [&](std::string_view json) {
    auto entry = cost_entry(json, drafts.size() + (trained == nullptr ? 0 : 1));
    if (!entry) return std::string(json);
    if (const auto off = check.off()) {
      options_.tell(
          fmt::format("the machine takes {:.2f} times as long as {} says: the next run measures it again",
                      *off, file_.path()));
      entry->off = *off;
    }
    for (std::size_t i = 0; i < std::min(learned.size(), entry->costs.drafts.size()); ++i) {
      const auto& [support, seen, positions] = learned[i];
      auto& known = entry->costs.drafts[i].learned[static_cast<std::size_t>(support)];
      if (seen >= positions_to_learn && !known) known = positions;
    }
    return json_of(*entry);
  });
}

Result<std::shared_ptr<const Costs>> CostFile::costs(const Transformer& target,
                                                     std::span<const Transformer* const> drafts, int threads,
                                                     const TrainedDrafter* trained) const {
  const std::string key = key_of(target, drafts, trained, threads);
  const std::size_t models = drafts.size() + (trained == nullptr ? 0 : 1);
  // Measure costs again if passes took another time, or if another build has written them to the default
  // file.
  const auto holds = [&](std::string_view json) -> Result<bool> {
    const auto entry = cost_entry(json, models);
    if (!entry && file_.named())
      return error("{}: the entry '{}' does not hold the costs of these models", file_.path(), key);
    return entry && !entry->off;
  };
  const auto measured = [&]() -> Result<std::string> {
    SPECTR_TRY(const CostEntry entry, measure(target, drafts, trained, options_));
    return json_of(entry);
  };
  SPECTR_TRY(const auto found, file_.entry(key, holds, measured));
  auto entry = cost_entry(found.json, models);
  SPECTR_CHECK(entry.has_value());
  if (entry->disturbed) {
    options_.tell(fmt::format(
        "the machine was busy when it was measured, and {:.1f} times slower than it can be{}",
        *entry->disturbed, found.kept ? fmt::format("; delete {} to measure again", file_.path()) : ""));
  }
  if (options_.tells_hash) {
    options_.tell(fmt::format("costs of passes: {}, hash {:016x}", found.kept ? file_.path() : "not kept",
                              entry->costs.hash()));
  }
  return std::make_shared<const Costs>(std::move(entry->costs));
}

}  // namespace spectr
