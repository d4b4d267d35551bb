#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr::bench {

/// A table of comma-separated values with a line of column names.
struct CsvTable {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`

  /// The column of that name, or `none`.
  std::size_t column(std::string_view name) const;
};

/// RFC 4180: fields in double quotes may hold commas, line breaks, and quotes written twice. Error: a quote
/// that is never closed or stands within a field, a row of another length, by line.
Result<CsvTable> parse_csv(std::string_view text);

}  // namespace spectr::bench
