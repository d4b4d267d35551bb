#include "apps/bench/table.h"

#include <algorithm>

namespace spectr::bench {
namespace {

plot::Cell cell_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return "";
  std::string text = value.is_string() ? value.get<std::string>() : "";
  if (value.is_array()) {
    for (const Json& item : value) text += (text.empty() ? "" : " ") + item.dump();
  }
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

/// Returns the members of a row with their column names.
std::vector<std::pair<std::string, Json>> members(const Json& row) {
  std::vector<std::pair<std::string, Json>> all;
  for (const auto& [name, value] : row.items()) {
    if (!value.is_object()) {
      all.emplace_back(name, value);
      continue;
    }
    for (auto& [inner, v] : members(value)) all.emplace_back(name + "_" + inner, std::move(v));
  }
  return all;
}

}  // namespace

plot::DataTable flat(const Json& rows) {
  std::vector<std::string> columns;
  for (const Json& row : rows) {
    for (const auto& [name, value] : members(row)) {
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
    }
  }
  plot::DataTable data(columns);
  for (const Json& row : rows) {
    std::vector<plot::Cell> cells(columns.size(), "");
    for (const auto& [name, value] : members(row)) cells[data.column(name)] = cell_of(value);
    data.add(std::move(cells));
  }
  return data;
}

}  // namespace spectr::bench
