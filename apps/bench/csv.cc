#include "apps/bench/csv.h"

#include <algorithm>

namespace spectr::bench {
namespace {

/// Parses a CSV text field by field.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::size_t line() const { return line_; }

  /// Returns the fields up to the end of the row.
  Result<std::vector<std::string>> row() {
    std::vector<std::string> fields;
    do {
      SPECTR_TRY(std::string field, next_is('"') ? quoted() : Result<std::string>(plain()));
      fields.push_back(std::move(field));
    } while (take(','));
    take('\r');
    if (!at_end() && !take('\n')) return error("line {}: a quote stands within a field", line_);
    return fields;
  }

 private:
  bool next_is(char c) const { return !at_end() && text_[at_] == c; }

  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    if (c == '\n') ++line_;
    return true;
  }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string field(text_.substr(at_, end - at_));
    at_ = end;
    return field;
  }

  Result<std::string> quoted() {
    const std::size_t opened = line_;
    std::string field;
    take('"');
    while (!at_end()) {
      const char c = text_[at_];
      take(c);
      if (c == '"' && !take('"')) return field;
      field += c;
    }
    return error("line {}: a quote is never closed", opened);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  return found == columns.end() ? none : static_cast<std::size_t>(found - columns.begin());
}

Result<CsvTable> parse_csv(std::string_view text) {
  Reader reader(text);
  CsvTable table;
  SPECTR_TRY(table.columns, reader.row());
  while (!reader.at_end()) {
    const std::size_t line = reader.line();
    SPECTR_TRY(std::vector<std::string> row, reader.row());
    if (row.size() == 1 && row[0].empty()) continue;
    if (row.size() != table.columns.size()) {
      return error("line {}: {} fields, the table has {} columns", line, row.size(), table.columns.size());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace spectr::bench
