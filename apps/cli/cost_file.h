#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "apps/cli/kept_measurements.h"
#include "spectr/decode/auto/cost_check.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/drafter.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/nn/transformer.h"

namespace spectr::cli {

/// What passes of a target and its draft models cost on this machine, from a file where it is kept between
/// runs. One entry per machine, models, number of threads and version of this program, as versions differ in
/// speed; what is missing is measured once (a few seconds) and added.
class CostFile {
 public:
  using Tell = std::function<void(const std::string&)>;

  /// No path: `costs.json` in $XDG_CACHE_HOME/spectr or ~/.cache/spectr.
  /// `tells_hash`: costs() tells where the costs are kept, and their hash.
  CostFile(const std::optional<std::string>& path, bool tells_hash, Tell tell = print_line)
      : file_(path), tells_hash_(tells_hash), tell_(std::move(tell)) {}

  /// Prints a line on standard error.
  static void print_line(const std::string& line);

  /// The costs of a request that is decoded alone. Throws Failure where a file that was named is not of
  /// this form or cannot be written. The default one is measured and written again, and where it cannot be
  /// written the costs are good for this run only; both is said.
  std::shared_ptr<const Costs> costs(const Transformer& target, std::span<const Transformer* const> drafts,
                                     int threads) const;

  /// How a draft model is made small for a target: what is best by a trial, which takes seconds and is made
  /// once; then the model comes with it. Small models stay as they are. Throws Failure as costs() does, and
  /// where the draft cannot be used.
  ChosenDraft slim(const Transformer& target, const Tokenizer& tokenizer, const std::string& draft,
                   ThreadPool& pool, const LoadOptions& options) const;

  /// Keeps what a run has found out: that passes did not take what the file says, which the next run then
  /// measures anew, and what is accepted of the drafts, where the file does not know it and the run tells
  /// enough. What is known once stays, so that the same seed gives the same text from then on.
  void keep(const Transformer& target, std::span<const Transformer* const> drafts, int threads,
            const CostCheck& check, std::span<const Learned> learned) const;

 private:
  static constexpr std::size_t contexts_to_learn = 16;

  KeptMeasurements file_;
  bool tells_hash_;
  Tell tell_;
};

}  // namespace spectr::cli
