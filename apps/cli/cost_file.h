#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "apps/json.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/nn/transformer.h"

namespace spectr::cli {

/// What passes of a target and its draft models cost on this machine, from a file where it is kept between
/// runs. One entry per machine, models, number of threads and version of this program, as versions differ in
/// speed; what is missing is measured once (a few seconds) and added.
class CostFile {
 public:
  /// No path: `costs.json` in $XDG_CACHE_HOME/spectr or ~/.cache/spectr.
  explicit CostFile(const std::optional<std::string>& path);

  /// For one of `texts` texts that share all passes. Throws Failure where a file that was named is not of
  /// this form or cannot be written. The default one is measured and written again, and where it cannot be
  /// written the costs are good for this run only; both is said.
  std::shared_ptr<const Costs> costs(const Transformer& target, std::span<const Transformer* const> drafts,
                                     int threads, std::size_t texts = 1) const;

 private:
  /// The entries; none where there is no file. Error: the file cannot be read, or is of another form.
  Result<Json> read() const;
  /// Of the default file that is no such file there are no entries. Throws Failure for one that was named.
  Json usable(Result<Json> entries) const;
  /// Whether the entries are kept; else says why not.
  bool write(const Json& all) const;

  std::string path_;
  bool named_;
};

}  // namespace spectr::cli
