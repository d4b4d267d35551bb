#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace spectr::card {

using Json = nlohmann::ordered_json;

/// The results of all sections: printed as tables while they are made, and kept as JSON.
class Report {
 public:
  explicit Report(std::string device) : device_(std::move(device)) {}

  /// Begins a section, whose rows have these columns.
  void begin(const std::string& section, std::vector<std::string> columns);
  /// Prints a row and keeps it. Requires: a cell for each column of the section.
  void row(const std::vector<Json>& cells);
  /// Prints a remark below the section's rows, and keeps it.
  void note(const std::string& text);
  /// Counts a comparison. Differing bits are printed with their place, `what`.
  void compare(bool equal, const std::string& what);
  /// Counts the section as failed by an error.
  void fail(const std::string& message);
  /// Ends the section with the seconds that it took.
  void end(double seconds);

  int compared() const { return compared_; }
  int differences() const { return differences_; }
  int failures() const { return failures_; }
  /// Returns {device, compared, differences, failures, sections: [{name, rows: [{column: cell}], notes,
  /// seconds}]}.
  Json json() const;

 private:
  Json& section() { return sections_.back(); }

  std::string device_;
  std::vector<std::string> columns_;
  Json sections_ = Json::array();
  int compared_ = 0, differences_ = 0, failures_ = 0;
};

}  // namespace spectr::card
