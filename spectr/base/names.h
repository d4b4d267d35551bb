#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr {

/// Returns the names of a table's rows, separated by `separator`.
template <class Table>
std::string names_of(const Table& table, std::string_view separator) {
  std::string names;
  for (const auto& row : table) names.append(names.empty() ? "" : separator).append(row.name);
  return names;
}

/// Returns the row of a table with this `name`, or an error that lists the names. `what` names the kind of
/// row, as in "there is no plan 'x'; the plans are a, b". The table must outlive the result.
template <class Table>
auto find_named(const Table& table, std::string_view what, std::string_view name)
    -> Result<const std::ranges::range_value_t<Table>*> {
  const auto row = std::ranges::find_if(table, [name](const auto& known) { return known.name == name; });
  if (row != std::ranges::end(table)) return &*row;
  return error("there is no {} '{}'; the {}s are {}", what, name, what, names_of(table, ", "));
}

/// Escapes foreign text for one line of a message: control characters, quotes, backslashes and bytes that are
/// not UTF-8. Text longer than `limit` bytes is truncated and followed by "…".
std::string escape(std::string_view text, std::size_t limit = 80);

/// Returns the escaped text in double quotes. The "…" of a truncated text follows the closing quote.
std::string quote(std::string_view text, std::size_t limit = 80);

}  // namespace spectr
