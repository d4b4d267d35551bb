#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::bench {

/// A table of comma-separated values with a header line of column names.
struct CsvTable {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each of the length of `columns`

  /// Returns the index of a column, or `none`.
  std::size_t column(std::string_view name) const;
};

/// Parses RFC 4180: quoted fields may contain commas, line breaks and doubled quotes. Fails on unterminated
/// or misplaced quotes and on rows of the wrong length; the message names the line.
Result<CsvTable> parse_csv(std::string_view text);

}  // namespace spectr::bench
