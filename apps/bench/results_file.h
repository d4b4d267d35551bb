#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "apps/support/json.h"
#include "spectr/base/result.h"

namespace spectr::bench {

/// Returns the identity of a model file for use in a key: its name, its size and a hash of samples of its
/// contents, independent of its folder. For models of the same shape, only the hash differs.
Json identity_of(const std::filesystem::path& file);

/// Finished measurements on disk, one JSON object {"key", "row"} per line, so that a killed run can resume. A
/// partial row at the end of the file, left by a kill during a write, is dropped. A complete last row counts
/// with or without a line break.
class ResultsFile {
 public:
  /// Opens a file; a missing file is empty. Fails if it cannot be read or created, or if
  /// a line is neither a row nor, at the end, the beginning of one; the file is unchanged
  /// in that case.
  static Result<ResultsFile> open(std::filesystem::path path);

  /// Returns the row of an earlier run with the same key (settings and inputs), if any.
  std::optional<Json> find(const Json& key) const;

  /// Adds a row. It is on disk when this returns.
  Result<void> add(const Json& key, const Json& row);

 private:
  explicit ResultsFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::map<std::string, Json> rows_;
};

}  // namespace spectr::bench
