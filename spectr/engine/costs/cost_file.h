#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/decode/auto/cost_check.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/drafter.h"
#include "spectr/engine/costs/kept_measurements.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/nn/transformer.h"

namespace spectr {

struct CostFileOptions {
  /// None: `costs.json` in $XDG_CACHE_HOME/spectr or ~/.cache/spectr.
  std::optional<std::string> path = {};
  /// Receives lines for people, such as that the machine is being measured.
  KeptMeasurements::Tell tell = {};
  /// Receives how much of a measurement is done, in [0, 1]; the last call of each passes 1.
  std::function<void(std::string_view what, double share)> progress = {};
  bool tells_hash = false;  ///< costs() tells where the costs are kept, and their hash
};

/// What passes of a target and its draft models cost on this machine, from a file that keeps it between
/// runs. The file has an entry per machine, models, number of threads and build. Missing entries are measured
/// once, which takes a few seconds, and added. Thread-safe; measuring needs the models to itself.
class CostFile {
 public:
  explicit CostFile(CostFileOptions options = {});

  /// Returns the costs of a request that is decoded alone. Fails if a named file is of another form or cannot
  /// be written, or the models cannot be measured. The default file is measured and written again instead;
  /// if it cannot be written, the costs are good for this run only. Both are told.
  Result<std::shared_ptr<const Costs>> costs(const Transformer& target,
                                             std::span<const Transformer* const> drafts, int threads) const;

  /// Returns how a draft model is made small for a target. The best of a trial is kept; the trial takes
  /// seconds, and its model comes with it. Small models stay as they are. Fails as costs() does, or if the
  /// draft cannot be used.
  Result<ChosenDraft> slim(const Transformer& target, const Tokenizer& tokenizer,
                           const std::filesystem::path& draft, ThreadPool& pool,
                           const LoadOptions& options) const;

  /// Returns options by which draft models are loaded as slim() says. Draft models on a device stay as they
  /// are: their passes are short, and their heads cost little.
  LoadOptions with_slim_drafts(LoadOptions options) const;

  /// Keeps what a run has found out: that passes did not take what the file says, which the next run then
  /// measures again, and what is accepted of the drafts, if the file does not know it and the run has seen
  /// enough. What is known stays, so that equal seeds give equal completions from then on. Fails if a named
  /// file cannot be written.
  Result<void> keep(const Transformer& target, std::span<const Transformer* const> drafts, int threads,
                    const CostCheck& check, std::span<const Learned> learned) const;

 private:
  static constexpr std::size_t contexts_to_learn = 16;

  CostFileOptions options_;
  KeptMeasurements file_;
};

}  // namespace spectr
