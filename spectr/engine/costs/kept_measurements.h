#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// Returns $XDG_CACHE_HOME/spectr or ~/.cache/spectr; empty if neither variable is set.
std::string measurements_folder();

/// A file of measurements of this machine: a JSON object of entries by key, each an object with a member
/// `target`. Several programs can use one file concurrently. Thread-safe.
class KeptMeasurements {
 public:
  /// Receives messages for people, such as why an entry is not kept.
  using Tell = std::function<void(const std::string& line)>;

  /// Without a path, uses `costs.json` in measurements_folder().
  explicit KeptMeasurements(const std::optional<std::string>& path, Tell tell = {});

  /// Returns an empty path if there is no folder for the file.
  const std::string& path() const { return path_; }
  /// True if the path was given.
  bool named() const { return named_; }

  struct Entry {
    std::string json;
    bool kept;  ///< true if the file has it
  };
  /// Returns the entry of a key if `holds` accepts it. Otherwise measures it, while no other program
  /// measures, and writes it. A default file of another format is replaced; if the default file cannot be
  /// written, the entry holds for this run only. Fails as `holds` and `measure`; if a named file has another
  /// format; with code `internal` if a named file cannot be written.
  Result<Entry> entry(const std::string& key, const std::function<Result<bool>(std::string_view json)>& holds,
                      const std::function<Result<std::string>()>& measure) const;

  /// Replaces an entry by the result of `change`. Does nothing if the file or the entry cannot be read. Fails
  /// with code `internal` if a named file cannot be written.
  Result<void> change(const std::string& key,
                      const std::function<std::string(std::string_view json)>& change) const;

 private:
  /// Returns true if the file has been written. Reports why if the default file cannot be.
  Result<bool> write(const std::string& contents) const;

  std::string path_;
  bool named_;
  Tell tell_;
};

}  // namespace spectr
