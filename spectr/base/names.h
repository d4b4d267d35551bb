#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// The names of a table's rows, one behind the other.
template <class Table>
std::string names_of(const Table& table, std::string_view separator) {
  std::string names;
  for (const auto& row : table) names.append(names.empty() ? "" : separator).append(row.name);
  return names;
}

/// The row of a table with this `name`, or an error that lists the names. `what` is one of its rows, as in
/// "there is no plan 'x'; the plans are a, b". The table must outlive the result.
template <class Table>
auto find_named(const Table& table, std::string_view what, std::string_view name)
    -> Result<const std::ranges::range_value_t<Table>*> {
  const auto row = std::ranges::find_if(table, [name](const auto& known) { return known.name == name; });
  if (row != std::ranges::end(table)) return &*row;
  return error("there is no {} '{}'; the {}s are {}", what, name, what, names_of(table, ", "));
}

/// Foreign text made fit for one line of a message: control characters, quotes, backslashes and bytes that
/// are not UTF-8 are escaped; what is longer than `limit` bytes is cut, and "…" follows.
std::string escape(std::string_view text, std::size_t limit = 80);

/// The same in double quotes ("…" stands behind them).
std::string quote(std::string_view text, std::size_t limit = 80);

}  // namespace spectr
