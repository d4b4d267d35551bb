#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spectr::plot {

/// A cell of a table, either a number or a word. Numbers are written so that reading them yields
/// the same double.
using Cell = std::variant<double, std::string>;

/// Measurements as a table with named columns and one row per point. It is written as a CSV file, and figures
/// are drawn from its rows.
class DataTable {
 public:
  explicit DataTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Appends a row. Requires: one cell per column.
  void add(std::vector<Cell> row);

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  /// Returns the index of a column. Requires: a column of that name exists.
  std::size_t column(std::string_view name) const;
  /// Returns the number in a cell. Requires: the cell holds a number.
  double number(std::size_t row, std::string_view column) const;

  /// A condition on the cell of a column. where() returns the indices of rows that meet all conditions.
  struct Condition {
    std::string_view column;
    Cell value;
  };
  std::vector<std::size_t> where(std::initializer_list<Condition> conditions) const;

  /// Returns comma-separated values with a header line of column names.
  std::string csv() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Formats rows as aligned columns under a line of names. The first column is flush left, the others are
/// flush right. Requires: every row has one cell per column.
std::string aligned(const std::vector<std::string>& columns,
                    const std::vector<std::vector<std::string>>& rows);

}  // namespace spectr::plot
