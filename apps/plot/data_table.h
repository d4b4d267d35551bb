#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spectr::plot {

/// A cell of a table holds a number or a word. Numbers are written so that reading them gives the same
/// double.
using Cell = std::variant<double, std::string>;

/// Measurements as a table with named columns, one row per point. It is written as a CSV file, and figures
/// are drawn from its rows.
class DataTable {
 public:
  explicit DataTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Requires: one cell per column.
  void add(std::vector<Cell> row);

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  /// Requires: a column of that name.
  std::size_t column(std::string_view name) const;
  /// The number in a row. Requires: a number stands there.
  double number(std::size_t row, std::string_view column) const;

  /// The rows in which every named column has the given value.
  struct Condition {
    std::string_view column;
    Cell value;
  };
  std::vector<std::size_t> where(std::initializer_list<Condition> conditions) const;

  /// Comma-separated values with a line of column names.
  std::string csv() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Text in aligned columns under a line of names; the first column is flush left, the others are flush right.
/// Requires: a cell for each column in every row.
std::string aligned(const std::vector<std::string>& columns,
                    const std::vector<std::vector<std::string>>& rows);

}  // namespace spectr::plot
