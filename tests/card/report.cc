// Tables of results on standard output, and the same as JSON.
#include "tests/card/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "spectr/base/check.h"

namespace spectr::card {
namespace {

constexpr std::size_t narrowest = 9, first_column = 34;  // characters

std::string text_of(const Json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_float()) return fmt::format("{:.4g}", cell.get<double>());
  return cell.is_null() ? "–" : cell.dump();
}

void print_cells(const std::vector<std::string>& cells, const std::vector<std::string>& columns) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += fmt::format("  {:<{}}", cells[i], std::max(i == 0 ? first_column : narrowest, columns[i].size()));
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace

void Report::begin(const std::string& section, std::vector<std::string> columns) {
  fmt::print("\n== {}: {}\n", device_, section);
  columns_ = std::move(columns);
  sections_.push_back({{"name", section}, {"rows", Json::array()}, {"notes", Json::array()}});
  print_cells(columns_, columns_);
}

void Report::row(const std::vector<Json>& cells) {
  SPECTR_CHECK(cells.size() == columns_.size());
  std::vector<std::string> texts;
  Json kept;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    texts.push_back(text_of(cells[i]));
    kept[columns_[i]] = cells[i];
  }
  section()["rows"].push_back(std::move(kept));
  print_cells(texts, columns_);
}

void Report::note(const std::string& text) {
  fmt::print("  {}\n", text);
  section()["notes"].push_back(text);
}

void Report::compare(bool equal, const std::string& what) {
  ++compared_;
  if (equal) return;
  ++differences_;
  note("other bits than the twins: " + what);
}

void Report::fail(const std::string& message) {
  ++failures_;
  if (sections_.empty()) begin("card", {});
  note("failed: " + message);
}

void Report::end(double seconds) {
  section()["seconds"] = seconds;
}

Json Report::json() const {
  return {{"device", device_},
          {"compared", compared_},
          {"differences", differences_},
          {"failures", failures_},
          {"sections", sections_}};
}

}  // namespace spectr::card
