#include "apps/cli/commands/rule_file.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>

#include "apps/support/json_input.h"
#include "apps/support/open_file.h"
#include "spectr/base/numeric.h"

namespace spectr::cli {
namespace {

using Rows = std::vector<std::vector<double>>;

Result<Rows> read_rows(const JsonInput& object, std::string_view name, std::size_t rows,
                       std::size_t vocabulary) {
  const auto at = object.find(std::string(name));
  if (at == object.end()) return error("has no '{}'", name);
  if (!at->is_array()) return error("{} must be a list of rows, got {}", name, shown(*at));
  if (at->size() != rows) return error("{} must have {} rows, got {}", name, rows, at->size());
  Rows all;
  for (const JsonInput& row : *at) {
    const std::size_t number = all.size() + 1;
    if (!row.is_array() || row.size() != vocabulary)
      return error("{}, row {} must be a list of {} numbers, got {}", name, number, vocabulary, shown(row));
    std::vector<double>& values = all.emplace_back();
    for (const JsonInput& value : row) {
      if (!value.is_number()) return error("{}, row {}: must be numbers, got {}", name, number, shown(value));
      values.push_back(value.get<double>());
      if (!std::isfinite(values.back()) || values.back() < 0.0)
        return error("{}, row {}: must be at least 0, got {}", name, number, shown(value));
    }
  }
  return all;
}

Result<std::vector<RejectionRule>> rules_of(const JsonInput& object, std::size_t rows,
                                            std::size_t vocabulary) {
  if (!object.is_object()) return error("must be an object with b and P, got {}", shown(object));
  for (const auto& [name, value] : object.items()) {
    if (name != "b" && name != "P")
      return error("has an unknown member '{}'; those of a rule are b and P", name);
  }
  SPECTR_TRY(Rows accept, read_rows(object, "b", rows, vocabulary));
  SPECTR_TRY(Rows correction, read_rows(object, "P", rows, vocabulary));
  std::vector<RejectionRule> rules;
  for (std::size_t i = 0; i < rows; ++i) {
    const double largest = std::ranges::max(accept[i]), sum = sum_of(correction[i]);
    if (largest > 1.0) return error("b, row {}: must be at most 1, got {}", i + 1, largest);
    const bool never_used = sum == 0.0 && std::ranges::min(accept[i]) == 1.0;
    if (!never_used && std::abs(sum - 1.0) > 1e-6)
      return error("P, row {}: must sum to 1, got {}", i + 1, sum);
    rules.push_back({std::move(accept[i]), std::move(correction[i])});
  }
  return rules;
}

}  // namespace

Result<std::vector<RejectionRule>> read_rules(const std::string& path, std::size_t rows,
                                              std::size_t vocabulary) {
  SPECTR_TRY(std::ifstream in, open_file(path));
  std::stringstream text;
  text << in.rdbuf();
  const auto json = parse_json(text.str());
  if (!json) return error("{} {}", path, json.error().message);
  auto rules = rules_of(*json, rows, vocabulary);
  if (!rules) return error("{}: {}", path, rules.error().message);
  return rules;
}

}  // namespace spectr::cli
