#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/decode/costs/cost_check.h"
#include "spectr/decode/costs/cost_model.h"
#include "spectr/decode/drafter.h"
#include "spectr/engine/costs/kept_measurements.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/nn/transformer.h"

namespace spectr {

struct CostFileOptions {
  /// None: `costs.json` in $XDG_CACHE_HOME/spectr or ~/.cache/spectr.
  std::optional<std::string> path = {};
  /// Receives messages for people, such as that the machine is being measured.
  KeptMeasurements::Tell tell = {};
  /// Receives the progress of a measurement, in [0, 1]; the last call of each has 1.
  std::function<void(std::string_view what, double share)> progress = {};
  bool tells_hash = false;  ///< costs() reports the file of the costs and their hash
};

/// The costs of passes of a target and its draft models on this machine, kept in a file between runs. The
/// file has an entry per machine, models, number of threads and build. Missing entries are measured once, in
/// a few seconds, and added. Thread-safe; no other passes of the models may run during a measurement.
class CostFile {
 public:
  explicit CostFile(CostFileOptions options = {});

  /// Returns the costs of a request that is decoded alone: those of a trained drafter, if there is one, come
  /// after those of the draft models. Fails if a named file has another format or cannot
  /// be written, or if the models cannot be measured. The default file is replaced instead; if it cannot be
  /// written, the costs hold for this run only. Both cases are reported.
  Result<std::shared_ptr<const Costs>> costs(const Transformer& target,
                                             std::span<const Transformer* const> drafts, int threads,
                                             const TrainedDrafter* trained = nullptr) const;

  /// Returns how to reduce a draft model for a target. Keeps the result of a trial, which takes seconds and
  /// also returns its model. Small models are not reduced. Fails as costs(), or if the draft cannot be
  /// used.
  Result<ChosenDraft> slim(const Transformer& target, const Tokenizer& tokenizer,
                           const std::filesystem::path& draft, ThreadPool& pool,
                           const LoadOptions& options) const;

  /// Returns options that load draft models as slim() chooses. Draft models on a device are not reduced:
  /// their passes are short, and their heads cost little.
  LoadOptions with_slim_drafts(LoadOptions options) const;

  /// Keeps the findings of a run: that passes did not take the time in the file, so that the next run
  /// measures it again; and the acceptance of drafts, if the file lacks it and the run has seen enough. Known
  /// values are not replaced, so that equal seeds give equal completions from then on. Fails if a named file
  /// cannot be written.
  Result<void> keep(const Transformer& target, std::span<const Transformer* const> drafts, int threads,
                    const CostCheck& check, std::span<const Learned> learned,
                    const TrainedDrafter* trained = nullptr) const;

 private:
  static constexpr std::size_t positions_to_learn = 16;

  CostFileOptions options_;
  KeptMeasurements file_;
};

}  // namespace spectr
