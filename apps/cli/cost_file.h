#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/cli/model_flags.h"
#include "spectr/decode/cost_curve.h"

namespace spectr::cli {

/// What passes of a pair of models cost on this machine, from a file where it is kept between runs. One entry
/// per machine, pair and number of threads; what is missing is measured once (a second or two) and added.
class CostFile {
 public:
  /// No path: `costs.json` in $XDG_CACHE_HOME/spectr or ~/.cache/spectr.
  explicit CostFile(std::optional<std::string> path);

  const std::string& path() const { return path_; }

  /// Throws Failure where the file cannot be read or written or is not of this form.
  std::shared_ptr<const Costs> costs(const LoadedModel& target, const LoadedModel& draft, int threads) const;

 private:
  std::string path_;
};

}  // namespace spectr::cli
