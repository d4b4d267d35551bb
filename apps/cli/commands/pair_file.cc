#include "apps/cli/commands/pair_file.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/support/json_input.h"
#include "apps/support/open_file.h"
#include "spectr/base/numeric.h"

namespace spectr::cli {
namespace {

constexpr std::size_t max_vocabulary = 1000;

/// Parses the tokens of a prefix such as "0,1"; "" has none.
Result<std::vector<Token>> tokens_of(std::string_view prefix, std::size_t vocabulary) {
  std::vector<Token> tokens;
  const char* at = prefix.data();
  const char* const end = at + prefix.size();
  while (at != end) {
    Token token = -1;
    const auto [next, fault] = std::from_chars(at, end, token);
    const bool is_token = fault == std::errc() && token >= 0 && static_cast<std::size_t>(token) < vocabulary;
    const bool goes_on = next != end && *next == ',' && next + 1 != end;
    if (!is_token || (next != end && !goes_on)) {
      return error("'{}' must be token ids below {}, comma-separated", shortened(prefix, max_shown),
                   vocabulary);
    }
    tokens.push_back(token);
    at = goes_on ? next + 1 : end;
  }
  return tokens;
}

Result<std::vector<double>> row_of(const JsonInput& value, std::size_t vocabulary) {
  if (!value.is_array() || value.size() != vocabulary)
    return error("must be a list of {} numbers, got {}", vocabulary, shown(value));
  std::vector<double> row;
  for (const JsonInput& p : value) {
    if (!p.is_number() || !std::isfinite(p.get<double>()) || p.get<double>() < 0.0)
      return error("must be numbers of at least 0, got {}", shown(p));
    row.push_back(p.get<double>());
  }
  const double sum = sum_of(row);
  if (std::abs(sum - 1.0) > 1e-6) return error("must sum to 1, got {}", sum);
  for (double& p : row) p /= sum;
  return row;
}

Result<PrefixTableModel> model_of(const JsonInput& object, const std::string& name, std::size_t vocabulary) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_object()) return error("{} must be an object of rows by prefix", name);
  PrefixTableModel::Rows rows;
  for (const auto& [prefix, value] : at->items()) {
    auto tokens = tokens_of(prefix, vocabulary);
    if (!tokens) return error("{}: {}", name, tokens.error().message);
    auto row = row_of(value, vocabulary);
    if (!row) return error("{}, row '{}': {}", name, shortened(prefix, max_shown), row.error().message);
    if (!rows.emplace(*std::move(tokens), *std::move(row)).second)
      return error("{}: the row '{}' is given twice", name, shortened(prefix, max_shown));
  }
  if (!rows.contains({})) return error("{} has no row for the empty prefix ''", name);
  return PrefixTableModel(vocabulary, rows);
}

Result<TablePair> pair_of(const JsonInput& object) {
  if (!object.is_object()) return error("must be an object with vocab, p and q, got {}", shown(object));
  for (const auto& [name, value] : object.items()) {
    if (name != "vocab" && name != "p" && name != "q") {
      return error("has an unknown member '{}'; those of a pair are vocab, p and q",
                   shortened(name, max_shown));
    }
  }
  const auto vocab = object.find("vocab");
  if (vocab == object.end() || !vocab->is_number_unsigned() || *vocab < 1 || *vocab > max_vocabulary)
    return error("vocab must be an integer between 1 and {}", max_vocabulary);
  const auto vocabulary = vocab->get<std::size_t>();
  SPECTR_TRY(PrefixTableModel p, model_of(object, "p", vocabulary));
  SPECTR_TRY(PrefixTableModel q, model_of(object, "q", vocabulary));
  return TablePair{std::move(p), std::move(q)};
}

}  // namespace

Result<TablePair> read_pair(const std::string& path) {
  SPECTR_TRY(std::ifstream in, open_file(path));
  std::stringstream text;
  text << in.rdbuf();
  const auto json = parse_json(text.str());
  if (!json) return error("{} {}", path, json.error().message);
  auto pair = pair_of(*json);
  if (!pair) return error("{}: {}", path, pair.error().message);
  return pair;
}

}  // namespace spectr::cli
