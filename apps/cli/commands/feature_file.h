#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/token.h"

namespace spectr::cli {

/// A sequence and what a target computes for it, with a row for each token except the last. Row i belongs to
/// token i and predicts token i + 1.
struct FeatureRecord {
  std::vector<Token> tokens = {};     ///< two or more
  std::size_t given = 0;              ///< first tokens that the target did not write
  std::vector<Token> top = {};        ///< [rows, top], the likeliest next tokens, likeliest first
  std::vector<float> top_log_q = {};  ///< [rows, top], their log-probabilities at temperature 1
  std::vector<float> features = {};   ///< [rows, width], the states that a drafter reads
};

/// A file of records for training drafters; docs/drafters.md has its format. Records are appended one by one,
/// so a run that was interrupted continues with the first missing record.
class FeatureFile {
 public:
  /// Creates a file, or opens the one that has the same header and removes an incomplete last record.
  /// `header` has the numbers "top" and "width", and "bytes", the size of a feature: 2 (bfloat16) or 4.
  /// Throws Failure if the file cannot be read or written, or has another header.
  FeatureFile(std::string path, const Json& header);

  /// Returns the number of records in the file.
  std::size_t size() const { return size_; }
  /// Throws Failure if the record cannot be written.
  void append(const FeatureRecord& record);

 private:
  std::size_t record_bytes(std::size_t tokens) const;
  void find_end(std::size_t begin);

  std::string path_;
  std::size_t top_, width_, feature_bytes_, size_ = 0;
  std::ofstream out_;
};

}  // namespace spectr::cli
