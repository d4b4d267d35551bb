#include "apps/server/requests/fields.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {

namespace {

constexpr std::size_t max_logged = 100;      // number of ignored fields that are logged
constexpr std::size_t max_values = 500'000;  // per body; more than a prompt of tokens has

/// Removes indices: messages[7].id becomes messages[].id.
std::string without_indices(std::string field) {
  std::erase_if(field, [inside = false](char c) mutable {
    if (c == '[' || c == ']') inside = c == '[';
    return inside && c != '[';
  });
  return field;
}

/// Returns true for integers above those that an std::int64_t, or a double exactly, can represent.
bool is_huge(const JsonInput& value) {
  if (value.is_number_float()) return value.get<double>() >= 0x1p53;
  return value.is_number_unsigned() &&
         value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

/// Returns the integer of a value, which may be written as 1.0 or 1e3. Requires: !is_huge(value).
std::optional<std::int64_t> whole_number(const JsonInput& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double given = value.get<double>();
  if (std::floor(given) != given || given <= -0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(given);
}

void log_once(const std::string& field) {
  static std::mutex mutex;
  static std::set<std::string> logged;
  const std::lock_guard lock(mutex);
  if (logged.size() < max_logged && logged.insert(field).second)
    spdlog::info("ignored: unknown field {}", field);
}

}  // namespace

JsonInput parse_body(const std::string& body) {
  auto json = parse_json(body, max_values);
  if (!json) throw ApiError::invalid("the body " + json.error().message);
  if (!json->is_object()) throw ApiError::invalid("the body must be a JSON object");
  return *std::move(json);
}

std::string Fields::quoted(std::string_view name) const {
  return fmt::format("'{}{}'", path_, escape(name, max_shown));
}

const JsonInput* Fields::any(std::string_view name) {
  known_.emplace(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<double> Fields::number(std::string_view name, double min, double max) {
  const JsonInput* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number())
    throw ApiError::invalid(fmt::format("{} must be a number, got {}", quoted(name), shown(*value)));
  const double number = value->get<double>();
  if (!(number >= min && number <= max)) {
    throw ApiError::invalid(
        fmt::format("{} must lie between {} and {}, got {}", quoted(name), min, max, shown(*value)));
  }
  return number;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t min, std::int64_t max) {
  const JsonInput* value = any(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> integer = is_huge(*value) ? std::nullopt : whole_number(*value);
  if (!integer || *integer < min || *integer > max) {
    throw ApiError::invalid(fmt::format("{} must be an integer between {} and {}, got {}", quoted(name), min,
                                        max, shown(*value)));
  }
  return integer;
}

std::optional<std::int64_t> Fields::count(std::string_view name, std::int64_t min) {
  const JsonInput* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (is_huge(*value)) return std::numeric_limits<std::int64_t>::max();
  const bool is_lowest = value->is_number_float() && value->get<double>() <= -0x1p53;
  const std::optional<std::int64_t> count =
      is_lowest ? std::numeric_limits<std::int64_t>::min() : whole_number(*value);
  if (!count || *count < min) {
    throw ApiError::invalid(
        fmt::format("{} must be an integer of at least {}, got {}", quoted(name), min, shown(*value)));
  }
  return count;
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const JsonInput* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    throw ApiError::invalid(fmt::format("{} must be true or false, got {}", quoted(name), shown(*value)));
  }
  return value->get<bool>();
}

std::optional<std::string> Fields::string(std::string_view name) {
  const JsonInput* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string())
    throw ApiError::invalid(fmt::format("{} must be a string, got {}", quoted(name), shown(*value)));
  return value->get<std::string>();
}

const JsonInput* Fields::object(std::string_view name) {
  const JsonInput* value = any(name);
  if (value != nullptr && !value->is_object()) {
    throw ApiError::invalid(fmt::format("{} must be an object, got {}", quoted(name), shown(*value)));
  }
  return value;
}

void Fields::agree(std::span<const std::string_view> names,
                   bool (*same)(const JsonInput&, const JsonInput&)) {
  std::string_view first;
  for (const std::string_view name : names) {
    const JsonInput* value = any(name);
    if (value == nullptr) continue;
    if (first.empty()) first = name;
    if (const JsonInput& other = *any(first); !same(other, *value)) {
      throw ApiError::invalid(fmt::format("{} and {} mean the same, got {} and {}", quoted(first),
                                          quoted(name), shown(other), shown(*value)));
    }
  }
}

void Fields::neutral(std::span<const Neutral> table) {
  for (const auto& [name, values, holds] : table) {
    const JsonInput* value = any(name);
    if (value == nullptr || std::ranges::find(values, *value) != values.end()) continue;
    if (holds != nullptr && holds(*value)) continue;
    throw ApiError::invalid(fmt::format("{} is not supported, got {}", quoted(name), shown(*value)));
  }
}

void Fields::ignore_others() const {
  for (const auto& [name, value] : object_.items()) {
    if (!known_.contains(name))
      log_once(fmt::format("'{}{}'", without_indices(path_), escape(name, max_shown)));
  }
}

}  // namespace spectr::server
