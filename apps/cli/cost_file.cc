#include "apps/cli/cost_file.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "apps/cli/cost_json.h"
#include "apps/cli/failure.h"
#include "apps/cli/processor_name.h"
#include "apps/cli/progress.h"
#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/base/check.h"
#include "spectr/base/hash.h"
#include "spectr/base/version.h"
#include "spectr/decode/auto/measure_costs.h"
#include "spectr/engine/slim_trial.h"

namespace spectr::cli {
namespace {

/// Over the formats and shapes of all weights, which decide what passes cost.
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

/// The models, the target first.
std::string key_of(const Transformer& target, std::span<const Transformer* const> drafts, int threads) {
  std::string key = describe(target) + " | ";
  for (const Transformer* draft : drafts) key += describe(*draft) + " | ";
  return key + machine(threads);
}

/// About how many seconds a measurement takes: three and some, or the passes of one round over all models.
int seconds_to_measure(const Transformer& target, std::span<const Transformer* const> drafts) {
  constexpr double bytes_per_second = 2e8;  // of weights, over all passes of a round
  std::size_t bytes = 0;
  if (target.place().empty()) bytes += target.weight_bytes();
  for (const Transformer* draft : drafts) bytes += draft->place().empty() ? draft->weight_bytes() : 0;
  return std::max(5, static_cast<int>(static_cast<double>(bytes) / bytes_per_second));
}

/// Measures now: an entry, which holds how busy the machine was meanwhile.
Json measure(const Transformer& target, std::span<const Transformer* const> drafts,
             const CostFile::Tell& tell) {
  tell(fmt::format("measuring this machine once, about {} s", seconds_to_measure(target, drafts)));
  Progress progress("measuring", 100);
  const MeasuredCosts measured =
      need(measure_costs(target, std::vector<const LanguageModel*>(drafts.begin(), drafts.end()),
                         [&](double share) { progress.at(static_cast<std::size_t>(100.0 * share)); }));
  progress.done();
  Json entry = to_json(measured.costs);
  if (measured.disturbed()) entry["disturbed"] = measured.spread;
  return entry;
}

/// Warns if the machine was busy when an entry was measured.
void warn_of_disturbance(const Json& entry, const std::string& path, const CostFile::Tell& tell) {
  const auto spread = entry.find("disturbed");
  if (spread == entry.end() || !spread->is_number()) return;
  tell(fmt::format("the machine was busy when it was measured, and {:.1f} times slower than it can be{}",
                   spread->get<double>(),
                   path.empty() ? "" : fmt::format("; delete {} to measure again", path)));
}

/// A draft's options by their names in flags, and back.
Json to_json(const SlimOptions& slim) {
  const auto* words = std::get_if<std::size_t>(&slim.words);
  return {{"type", slim.type ? Json(format_of(*slim.type).name) : Json(nullptr)},
          {"words", words != nullptr ? Json(*words) : Json(nullptr)}};
}

std::optional<SlimOptions> slim_from(const Json& entry) {
  const auto slim = entry.find("slim");
  if (slim == entry.end() || !slim->is_object()) return std::nullopt;
  SlimOptions options;
  if (slim->value("type", Json()).is_string()) {
    for (const TensorFormat& format : tensor_formats()) {
      if (format.name == slim->at("type").get<std::string>()) options.type = format.type;
    }
    if (!options.type) return std::nullopt;
  }
  const Json words = slim->value("words", Json());
  if (words.is_number_unsigned()) options.words = words.get<std::size_t>();
  return options;
}

Json to_json(const SlimTrials& trials, const Transformer& target) {
  Json all = Json::array();
  for (const SlimTrial& trial : trials.trials) {
    all.push_back(to_json(trial.options));
    all.back()["pass"] = trial.pass_seconds;
    all.back()["acceptance"] = trial.acceptance;
    all.back()["speedup"] = trial.speedup;
  }
  return {{"target", target.spec().name}, {"slim", to_json(trials.chosen())}, {"trials", all}};
}

/// The file as it is against the smallest variant: the others take as long to load again.
SlimTrials try_draft(const Transformer& target, const Tokenizer& tokenizer, const std::string& draft,
                     ThreadPool& pool, const LoadOptions& options, const CostFile::Tell& tell) {
  const std::span<const SlimOptions> variants = slim_variants().first(2);
  tell("trying once whether a smaller draft model is faster here");
  Progress progress("trying", variants.size());
  auto trials = try_slim(target, tokenizer, draft, pool, options, variants,
                         [&](std::size_t done) { progress.at(done); });
  progress.done();
  return need(std::move(trials));
}

}  // namespace

void CostFile::print_line(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
}

ChosenDraft CostFile::slim(const Transformer& target, const Tokenizer& tokenizer, const std::string& draft,
                           ThreadPool& pool, const LoadOptions& options) const {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(draft, unknown);
  if (unknown || bytes < min_bytes_to_slim) return {};
  const std::string key = fmt::format("a draft of {} bytes, {} | for {} | {}", bytes,
                                      std::filesystem::path(draft).filename().string(), describe(target),
                                      machine(pool.threads()));
  ChosenDraft chosen;
  const auto entry = file_.entry(
      key, [](const Json& found) { return slim_from(found).has_value(); },
      [&] {
        SlimTrials trials = try_draft(target, tokenizer, draft, pool, options, tell_);
        Json kept = to_json(trials, target);
        chosen.model = std::move(trials.model);
        return kept;
      });
  chosen.options = slim_from(entry.value).value_or(SlimOptions());
  return chosen;
}

void CostFile::keep(const Transformer& target, std::span<const Transformer* const> drafts, int threads,
                    const CostCheck& check, std::span<const Learned> learned) const {
  file_.change(key_of(target, drafts, threads), [&](Json& entry) {
    if (const auto off = check.off()) {
      tell_(fmt::format("the machine takes {:.2f} times as long as {} says: the next run measures it again",
                        *off, file_.path()));
      entry["off"] = *off;
    }
    for (std::size_t i = 0; i < learned.size() && i < entry["drafts"].size(); ++i) {
      const auto& [support, contexts, acceptance] = learned[i];
      Json& draft = entry["drafts"][i];
      const char* name = support_names[static_cast<std::size_t>(support)];
      const bool known = draft.contains("learned") && draft["learned"].contains(name);
      if (contexts >= contexts_to_learn && !known) draft["learned"][name] = to_json(acceptance);
    }
  });
}

std::shared_ptr<const Costs> CostFile::costs(const Transformer& target,
                                             std::span<const Transformer* const> drafts, int threads) const {
  const std::string key = key_of(target, drafts, threads);
  // What another version of this program has left in the default file, and what passes did not take, is
  // measured again.
  const auto holds = [&](const Json& entry) {
    if (entry.contains("off")) return false;
    const bool good = costs_from(entry, drafts.size()).has_value();
    if (!good && file_.named()) {
      throw Failure(Status::usage, fmt::format("{}: the entry '{}' does not hold the costs of these models",
                                               file_.path(), key));
    }
    return good;
  };
  const auto [entry, kept] = file_.entry(key, holds, [&] { return measure(target, drafts, tell_); });
  warn_of_disturbance(entry, kept ? file_.path() : "", tell_);
  auto costs = costs_from(entry, drafts.size());
  SPECTR_CHECK(costs.has_value());
  if (tells_hash_)
    tell_(fmt::format("costs of passes: {}, hash {:016x}", kept ? file_.path() : "not kept", costs->hash()));
  return std::make_shared<const Costs>(*std::move(costs));
}

}  // namespace spectr::cli
