#include "apps/bench/methods/column_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "apps/support/json_input.h"
#include "apps/support/open_file.h"
#include "apps/support/setting_json.h"

namespace spectr::bench {
namespace {

// Members that a cell may have. Their names are those of the command line, with '_' for '-'.

struct Count {
  std::string_view name;
  std::size_t MethodOptions::* member;
};

// The remaining settings are in the tables of settings.
constexpr Count counts[] = {{"drafts", &MethodOptions::drafts},
                            {"length", &MethodOptions::length},
                            {"verified_beams", &MethodOptions::verified_beams}};

Json cell_json(const Cell& cell) {
  Json all = {{"method", cell.method->name}};
  if (cell.options.plan) all["plan"] = *cell.options.plan;
  // Default values are omitted. Settings that the method does not read are omitted, too, because running a
  // cell with them would be reported as an error.
  const auto unread = unread_settings(*cell.method, cell.options);
  const MethodOptions usual;
  const auto is_read = [&](const std::string& flag) {
    return std::ranges::find(unread, flag) == unread.end();
  };
  for (const auto& [name, member] : counts) {
    if (cell.options.*member != usual.*member) all[std::string(name)] = cell.options.*member;
  }
  for (const MethodSetting& setting : method_settings()) {
    if (setting.is_changed(cell.options) && is_read(setting.flag()))
      all[std::string(setting.name)] = json_of(setting, cell.options);
  }
  all["warp"] = basic_sampling(cell.warp.options());
  return all;
}

/// Reads a value of a setting: a number, a boolean, or a list of whole numbers.
template <class T>
Result<void> read_value(std::string_view name, const JsonInput& value, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) return error("{} must be true or false, got {}", name, shown(value));
    out = value.get<bool>();
  } else if constexpr (std::is_same_v<T, double>) {
    if (!value.is_number()) return error("{} must be a number, got {}", name, shown(value));
    out = value.get<double>();
  } else if constexpr (std::is_integral_v<T>) {
    if (!value.is_number_unsigned()) return error("{} must be a whole number, got {}", name, shown(value));
    const auto count = value.get<std::size_t>();
    if (!std::in_range<T>(count)) return error("{} is too large: {}", name, count);
    out = static_cast<T>(count);
  } else {
    if (!value.is_array()) return error("{} must be a list of whole numbers, got {}", name, shown(value));
    out.clear();
    for (const JsonInput& entry : value) SPECTR_TRY_VOID(read_value(name, entry, out.emplace_back()));
  }
  return {};
}

Result<void> read_setting(const MethodSetting& setting, const JsonInput& value, MethodOptions& options) {
  return std::visit(
      [&]<class Place>(const Place& place) -> Result<void> {
        if constexpr (std::is_same_v<Place, MethodSetting::Choice>) {
          const auto& words = place.words;
          const auto found =
              value.is_string() ? std::ranges::find(words, value.get<std::string>()) : words.end();
          if (found == words.end())
            return error("{} must be {} or {}, got {}", setting.name, words[0], words[1], shown(value));
          place.set(options, static_cast<std::size_t>(found - words.begin()));
          return {};
        } else {
          return read_value(setting.name, value, options.*place);
        }
      },
      setting.place);
}

Result<WarpOptions> read_warp(const JsonInput& object) {
  if (!object.is_object()) return error("warp must be an object, got {}", shown(object));
  WarpOptions options = WarpOptions::none();
  for (const auto& [name, value] : object.items()) {
    const auto setting = std::ranges::find(sampling_settings(), name, &SamplingSetting::name);
    if (setting == sampling_settings().end() || !setting->basic)
      return error("warp has no setting '{}'", name);
    const auto read = [&name, &value]<class T>(T& out) -> Result<void> {
      if constexpr (std::is_arithmetic_v<T>) {
        return read_value(name, value, out);
      } else {
        return error("warp has no setting '{}'", name);
      }
    };
    SPECTR_TRY_VOID(setting->visit(options, read));
  }
  return options;
}

/// Reads one member of a cell. Fails if there is no setting of that name.
Result<void> read_member(std::string_view name, const JsonInput& value, Column& column, Axes& axes) {
  MethodOptions& options = column.settings;
  if (name == "method" || name == "plan") {
    if (!value.is_string()) return error("{} must be a string, got {}", name, shown(value));
    (name == "method" ? axes.methods : axes.plans).push_back(value.get<std::string>());
    return {};
  }
  if (name == "warp") {
    SPECTR_TRY(column.warp, read_warp(value));
    return {};
  }
  const auto setting = std::ranges::find(method_settings(), name, &MethodSetting::name);
  if (setting != method_settings().end()) return read_setting(*setting, value, options);
  const auto* const count = std::ranges::find(counts, name, &Count::name);
  if (count == std::end(counts)) return error("there is no setting '{}'", name);
  return read_value(name, value, options.*count->member);
}

Result<Column> read_column(const JsonInput& object) {
  if (!object.is_object()) return error("is not an object");
  Column column{.warp = WarpOptions::none()};
  Axes axes;
  for (const auto& [name, value] : object.items()) SPECTR_TRY_VOID(read_member(name, value, column, axes));
  if (axes.methods.empty()) return error("names no method");
  column.axes.push_back(std::move(axes));
  return column;
}

}  // namespace

Json column_json(std::span<const Cell* const> cells) {
  Json all = Json::array();
  for (const Cell* cell : cells) all.push_back(cell_json(*cell));
  return {{"cells", all}};
}

Result<std::vector<Column>> read_columns(const std::string& path) {
  SPECTR_TRY(std::ifstream in, open_file(path));
  std::stringstream text;
  text << in.rdbuf();
  const auto json = parse_json(text.str());
  if (!json) return error("{} {}", path, json.error().message);
  if (!json->is_object() || !json->contains("cells") || !(*json)["cells"].is_array() ||
      (*json)["cells"].empty()) {
    return error("{} has no list of cells, as bench tune writes it", path);
  }
  std::vector<Column> columns;
  for (const JsonInput& cell : (*json)["cells"]) {
    auto column = read_column(cell);
    if (!column) return error("{}, cell {}: {}", path, columns.size() + 1, column.error().message);
    columns.push_back(*std::move(column));
  }
  return columns;
}

}  // namespace spectr::bench
