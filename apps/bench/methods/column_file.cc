#include "apps/bench/methods/column_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "apps/support/json_input.h"
#include "apps/support/open_file.h"

namespace spectr::bench {
namespace {

// What a cell may tell: the names of the command line with '_'.

template <class Options, class T>
struct Field {
  std::string_view name;
  T Options::* member;
};

constexpr Field<MethodOptions, std::size_t> counts[] = {
    {"drafts", &MethodOptions::drafts}, {"length", &MethodOptions::length},
    {"trunk", &MethodOptions::trunk},   {"verified_beams", &MethodOptions::verified_beams},
    {"beams", &MethodOptions::beams},   {"ngram", &MethodOptions::ngram}};
constexpr Field<MethodOptions, double> numbers[] = {{"epsilon", &MethodOptions::epsilon},
                                                    {"tau", &MethodOptions::tau},
                                                    {"bild_fallback", &MethodOptions::bild_fallback},
                                                    {"bild_rollback", &MethodOptions::bild_rollback}};
constexpr Field<MethodOptions, std::vector<std::size_t>> lists[] = {{"tree", &MethodOptions::tree},
                                                                    {"gammas", &MethodOptions::gammas}};
constexpr Field<WarpOptions, double> warp_numbers[] = {
    {"temperature", &WarpOptions::temperature},
    {"top_p", &WarpOptions::top_p},
    {"min_p", &WarpOptions::min_p},
    {"repeat_penalty", &WarpOptions::repeat_penalty},
    {"presence_penalty", &WarpOptions::presence_penalty},
    {"frequency_penalty", &WarpOptions::frequency_penalty}};
constexpr Field<WarpOptions, std::size_t> warp_counts[] = {{"top_k", &WarpOptions::top_k},
                                                           {"repeat_last_n", &WarpOptions::repeat_last_n}};

/// A setting of two values by their names.
template <class Value>
struct Choice {
  std::string_view name;
  Value MethodOptions::* member;
  std::pair<std::string_view, Value> values[2];
};
constexpr Choice<BeamMode> mode = {
    "beam_mode", &MethodOptions::beam_mode, {{"draw", BeamMode::draw}, {"top", BeamMode::top}}};
constexpr Choice<BeamWarp> warping = {
    "beam_warp", &MethodOptions::beam_warp, {{"token", BeamWarp::token}, {"joint", BeamWarp::joint}}};
constexpr Choice<JointLaw> law = {
    "joint", &MethodOptions::joint, {{"warped", JointLaw::warped}, {"raw", JointLaw::raw}}};

Json warp_json(const WarpOptions& options) {
  Json all;
  for (const auto& [name, member] : warp_numbers) all[std::string(name)] = options.*member;
  for (const auto& [name, member] : warp_counts) all[std::string(name)] = options.*member;
  return all;
}

Json cell_json(const Cell& cell) {
  Json all = {{"method", cell.method->name}};
  if (cell.options.plan) all["plan"] = *cell.options.plan;
  // What is as usual goes without saying; what the method does not read would be told as a mistake when it is
  // run.
  const auto unread = unread_settings(*cell.method, cell.options);
  const MethodOptions usual;
  const auto tell = [&](std::string_view name, auto MethodOptions::* member, const auto& as_told) {
    std::string flag(name);
    std::ranges::replace(flag, '_', '-');
    if (cell.options.*member == usual.*member || std::ranges::find(unread, flag) != unread.end()) return;
    all[std::string(name)] = as_told(cell.options.*member);
  };
  const auto itself = [](const auto& value) { return value; };
  for (const auto& [name, member] : counts) tell(name, member, itself);
  for (const auto& [name, member] : numbers) tell(name, member, itself);
  for (const auto& [name, member] : lists) tell(name, member, itself);
  const auto tell_choice = [&](const auto& choice) {
    tell(choice.name, choice.member, [&choice](const auto& chosen) {
      return std::ranges::find(choice.values, chosen, [](const auto& one) { return one.second; })->first;
    });
  };
  tell_choice(mode);
  tell_choice(warping);
  tell_choice(law);
  tell("rounds", &MethodOptions::rounds, itself);
  all["warp"] = warp_json(cell.warp.options());
  return all;
}

Result<std::size_t> count_of(std::string_view name, const JsonInput& value) {
  if (!value.is_number_unsigned()) return error("{} must be a whole number, got {}", name, shown(value));
  return value.get<std::size_t>();
}

Result<double> number_of(std::string_view name, const JsonInput& value) {
  if (!value.is_number()) return error("{} must be a number, got {}", name, shown(value));
  return value.get<double>();
}

/// Reads a member into its place, if it is one of the fields.
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
    if (!value.is_array()) return error("{} must be a list of whole numbers, got {}", name, shown(value));
    T list;
    for (const JsonInput& entry : value) {
      SPECTR_TRY(const std::size_t count, count_of(name, entry));
      list.push_back(count);
    }
    options.*field->member = std::move(list);
  }
  return true;
}

template <class Value>
Result<bool> read_choice(const Choice<Value>& choice, std::string_view name, const JsonInput& value,
                         MethodOptions& options) {
  if (name != choice.name) return false;
  for (const auto& [word, meant] : choice.values) {
    if (!value.is_string() || value.get<std::string>() != word) continue;
    options.*choice.member = meant;
    return true;
  }
  return error("{} must be {} or {}, got {}", name, choice.values[0].first, choice.values[1].first,
               shown(value));
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

/// One member of a cell. Error: there is no setting of that name.
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
  if (name == "rounds") {
    SPECTR_TRY(const std::size_t rounds, count_of(name, value));
    if (rounds > std::numeric_limits<int>::max()) return error("rounds is too large: {}", rounds);
    options.rounds = static_cast<int>(rounds);
    return {};
  }
  bool known = false;
  const auto take = [&](Result<bool> read) -> Result<void> {
    SPECTR_TRY(const bool taken, std::move(read));
    known = known || taken;
    return {};
  };
  SPECTR_TRY_VOID(take(read_field(counts, name, value, options)));
  SPECTR_TRY_VOID(take(read_field(numbers, name, value, options)));
  SPECTR_TRY_VOID(take(read_field(lists, name, value, options)));
  SPECTR_TRY_VOID(take(read_choice(mode, name, value, options)));
  SPECTR_TRY_VOID(take(read_choice(warping, name, value, options)));
  SPECTR_TRY_VOID(take(read_choice(law, name, value, options)));
  if (!known) return error("there is no setting '{}'", name);
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
