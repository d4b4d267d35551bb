#include "apps/bench/table.h"

#include <algorithm>

#include "spectr/base/utf8.h"

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

/// The members of a row by the name of their column.
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

std::string aligned(const std::vector<std::string>& columns,
                    const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(utf8_characters(columns[i]));
    for (const auto& row : rows) widths[i] = std::max(widths[i], utf8_characters(row[i]));
  }
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - utf8_characters(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (i == 0 ? row[i] + space : space + row[i]);
    }
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  };
  add(columns);
  for (const auto& row : rows) add(row);
  return text;
}

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
