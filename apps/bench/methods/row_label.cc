#include "apps/bench/methods/row_label.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <vector>

namespace spectr::bench {

std::string label_of(const Json& row) {
  std::string text = row["method"].get<std::string>();
  const auto add = [&](const char* name, const char* member) {
    if (!row[member].is_null()) text += fmt::format(" {}={}", name, row[member].get<double>());
  };
  if (!row["plan"].is_null()) text += " " + row["plan"].get<std::string>();
  if (row.contains("tree") && !row["tree"].is_null())
    text += fmt::format(" {}", fmt::join(row["tree"].get<std::vector<std::size_t>>(), "·"));
  if (row["beam_mode"] == "top") text += " top";
  add("τ", "tau");
  add("τ₁", "bild_fallback");
  add("τ₂", "bild_rollback");
  return text;
}

std::string draft_name(const Json& row) {
  const Json& draft = row["models"]["draft"];
  return draft.is_null() ? "" : std::filesystem::path(draft.get<std::string>()).stem().string();
}

bool several_drafts(const Json& rows) {
  std::set<std::string> drafts;
  for (const Json& row : rows) {
    if (!row["models"]["draft"].is_null()) drafts.insert(draft_name(row));
  }
  return drafts.size() > 1;
}

}  // namespace spectr::bench
