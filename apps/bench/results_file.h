#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "apps/support/json.h"
#include "spectr/base/result.h"

namespace spectr::bench {

/// A file of a model in a key: its name, its size and a hash of samples of its contents, wherever it lies.
/// Models of one shape differ in the last alone.
Json identity_of(const std::filesystem::path& file);

/// Finished measurements on disk, one JSON object {"key", "row"} per line, so that a run that was killed can
/// go on where it was. Only the beginning of a row at the end of the file, where a kill interrupted its
/// writing, is dropped. A complete last row counts with or without its line break.
class ResultsFile {
 public:
  /// Reads what is there; a file that does not exist is empty. Error: no such file can be read or made, or a
  /// line in it is neither of this form nor the beginning of such a line at the end; the file is unchanged
  /// then.
  static Result<ResultsFile> open(std::filesystem::path path);

  /// The row of an earlier run with the same key (settings and inputs), if there is one.
  std::optional<Json> find(const Json& key) const;

  /// Adds a row; it is on disk when this returns.
  Result<void> add(const Json& key, const Json& row);

 private:
  explicit ResultsFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::map<std::string, Json> rows_;
};

}  // namespace spectr::bench
