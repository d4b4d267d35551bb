#include "apps/plot/data_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/base/utf8.h"

namespace spectr::plot {

void DataTable::add(std::vector<Cell> row) {
  SPECTR_CHECK(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::size_t DataTable::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  SPECTR_CHECK(found != columns_.end());
  return static_cast<std::size_t>(found - columns_.begin());
}

double DataTable::number(std::size_t row, std::string_view name) const {
  const auto* number = std::get_if<double>(&rows_[row][column(name)]);
  SPECTR_CHECK(number != nullptr);
  return *number;
}

std::vector<std::size_t> DataTable::where(std::initializer_list<Condition> conditions) const {
  std::vector<std::size_t> found;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto holds = [&](const Condition& c) { return rows_[row][column(c.column)] == c.value; };
    if (std::ranges::all_of(conditions, holds)) found.push_back(row);
  }
  return found;
}

std::string DataTable::csv() const {
  std::string text = fmt::format("{}\n", fmt::join(columns_, ","));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      std::visit([&](const auto& cell) { text += fmt::format("{}", cell); }, row[i]);
    }
    text += '\n';
  }
  return text;
}

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

}  // namespace spectr::plot
