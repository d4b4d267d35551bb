#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/json.h"
#include "spectr/base/result.h"

namespace spectr::cli {

/// $XDG_CACHE_HOME/spectr or ~/.cache/spectr; empty where there is no such place.
std::string measurements_folder();

/// A file of what was measured on this machine, an entry by key, which programs share that run at once.
class KeptMeasurements {
 public:
  /// No path: `costs.json` in $XDG_CACHE_HOME/spectr or ~/.cache/spectr.
  explicit KeptMeasurements(const std::optional<std::string>& path);

  /// Empty where there is no place for it.
  const std::string& path() const { return path_; }
  /// Whether its place was given.
  bool named() const { return named_; }

  /// The entry of a key, if it `holds` what is wanted. What is missing is measured while no other program
  /// measures, and written; `kept` says whether it could be. Throws Failure where a file that was named is of
  /// another form or cannot be written. The default one is replaced, and where it cannot be written the entry
  /// is good for this run only; both is said.
  struct Entry {
    Json value;
    bool kept;
  };
  Entry entry(const std::string& key, const std::function<bool(const Json&)>& holds,
              const std::function<Json()>& measure) const;

  /// Changes an entry that is there; no error where that cannot be done.
  void change(const std::string& key, const std::function<void(Json&)>& change) const;

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
