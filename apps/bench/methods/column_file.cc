#include "apps/bench/methods/column_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "apps/support/json_input.h"
#include "apps/support/open_file.h"
#include "spectr/decode/method_settings.h"

namespace spectr::bench {
namespace {

// Members that a cell may have. Their names are those of the command line, with '_' for '-'.

template <class Options, class T>
struct Field {
  std::string_view name;
  T Options::* member;
};

// Draft shapes. The remaining settings are in the table of method settings.
constexpr Field<MethodOptions, std::size_t> counts[] = {{"drafts", &MethodOptions::drafts},
                                                        {"length", &MethodOptions::length},
                                                        {"trunk", &MethodOptions::trunk},
                                                        {"verified_beams", &MethodOptions::verified_beams}};
constexpr Field<MethodOptions, std::vector<std::size_t>> lists[] = {{"tree", &MethodOptions::tree}};
constexpr Field<WarpOptions, double> warp_numbers[] = {
    {"temperature", &WarpOptions::temperature},
    {"top_p", &WarpOptions::top_p},
    {"min_p", &WarpOptions::min_p},
    {"repeat_penalty", &WarpOptions::repeat_penalty},
    {"presence_penalty", &WarpOptions::presence_penalty},
    {"frequency_penalty", &WarpOptions::frequency_penalty}};
constexpr Field<WarpOptions, std::size_t> warp_counts[] = {{"top_k", &WarpOptions::top_k},
                                                           {"repeat_last_n", &WarpOptions::repeat_last_n}};

using Choice = MethodSetting::Choice;

Json value_of(const MethodSetting& setting, const MethodOptions& options) {
  return std::visit(
      [&]<class Member>(const Member& member) -> Json {
        if constexpr (std::is_same_v<Member, Choice>)
          return member.words[member.get(options)];
        else
          return options.*member;
      },
      setting.place);
}

Json warp_json(const WarpOptions& options) {
  Json all;
  for (const auto& [name, member] : warp_numbers) all[std::string(name)] = options.*member;
  for (const auto& [name, member] : warp_counts) all[std::string(name)] = options.*member;
  return all;
}

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
  const auto tell = [&](std::string_view name, auto MethodOptions::* member) {
    if (cell.options.*member != usual.*member && is_read(std::string(name)))
      all[std::string(name)] = cell.options.*member;
  };
  for (const auto& [name, member] : counts) tell(name, member);
  for (const auto& [name, member] : lists) tell(name, member);
  for (const MethodSetting& setting : method_settings()) {
    if (setting.is_changed(cell.options) && is_read(setting.flag()))
      all[std::string(setting.name)] = value_of(setting, cell.options);
  }
  all["warp"] = warp_json(cell.warp.options());
  return all;
}

Result<std::size_t> count_of(std::string_view name, const JsonInput& value) {
  if (!value.is_number_unsigned()) return error("{} must be a whole number, got {}", name, shown(value));
  return value.get<std::size_t>();
}

Result<std::vector<std::size_t>> counts_of(std::string_view name, const JsonInput& value) {
  if (!value.is_array()) return error("{} must be a list of whole numbers, got {}", name, shown(value));
  std::vector<std::size_t> list;
  for (const JsonInput& entry : value) {
    SPECTR_TRY(const std::size_t count, count_of(name, entry));
    list.push_back(count);
  }
  return list;
}

Result<double> number_of(std::string_view name, const JsonInput& value) {
  if (!value.is_number()) return error("{} must be a number, got {}", name, shown(value));
  return value.get<double>();
}

/// Reads a member into the field of that name. Returns false if there is none.
template <class Options, class T, std::size_t n>
Result<bool> read_field(const Field<Options, T> (&fields)[n], std::string_view name, const JsonInput& value,
                        Options& options) {
  const auto field = std::ranges::find(fields, name, &Field<Options, T>::name);
  if (field == std::end(fields)) return false;
  if constexpr (std::is_same_v<T, double>) {
    SPECTR_TRY(options.*field->member, number_of(name, value));
  } else if constexpr (std::is_same_v<T, std::size_t>) {
    SPECTR_TRY(options.*field->member, count_of(name, value));
  } else {
    SPECTR_TRY(options.*field->member, counts_of(name, value));
  }
  return true;
}

Result<void> read_setting(const MethodSetting& setting, const JsonInput& value, MethodOptions& options) {
  if (const auto* choice = std::get_if<Choice>(&setting.place)) {
    const auto& words = choice->words;
    const auto found = value.is_string() ? std::ranges::find(words, value.get<std::string>()) : words.end();
    if (found == words.end())
      return error("{} must be {} or {}, got {}", setting.name, words[0], words[1], shown(value));
    choice->set(options, static_cast<std::size_t>(found - words.begin()));
  } else if (const auto* flag = std::get_if<bool MethodOptions::*>(&setting.place)) {
    if (!value.is_boolean()) return error("{} must be true or false, got {}", setting.name, shown(value));
    options.** flag = value.get<bool>();
  } else if (const auto* whole = std::get_if<int MethodOptions::*>(&setting.place)) {
    SPECTR_TRY(const std::size_t count, count_of(setting.name, value));
    if (count > std::numeric_limits<int>::max()) return error("{} is too large: {}", setting.name, count);
    options.** whole = static_cast<int>(count);
  } else if (const auto* count = std::get_if<std::size_t MethodOptions::*>(&setting.place)) {
    SPECTR_TRY(options.**count, count_of(setting.name, value));
  } else if (const auto* number = std::get_if<double MethodOptions::*>(&setting.place)) {
    SPECTR_TRY(options.**number, number_of(setting.name, value));
  } else if (const auto* list = std::get_if<std::vector<std::size_t> MethodOptions::*>(&setting.place)) {
    SPECTR_TRY(options.**list, counts_of(setting.name, value));
  }
  return {};
}

Result<WarpOptions> read_warp(const JsonInput& object) {
  if (!object.is_object()) return error("warp must be an object, got {}", shown(object));
  WarpOptions options = WarpOptions::none();
  for (const auto& [name, value] : object.items()) {
    SPECTR_TRY(const bool number, read_field(warp_numbers, name, value, options));
    SPECTR_TRY(const bool count, number ? Result<bool>(true) : read_field(warp_counts, name, value, options));
    if (!count) return error("warp has no setting '{}'", name);
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
  SPECTR_TRY(const bool is_count, read_field(counts, name, value, options));
  SPECTR_TRY(const bool is_list, is_count ? Result<bool>(true) : read_field(lists, name, value, options));
  if (!is_list) return error("there is no setting '{}'", name);
  return {};
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
