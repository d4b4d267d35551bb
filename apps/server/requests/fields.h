#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/support/json.h"

namespace spectr::server {

/// Parses a body: a JSON object, not deeper than `max_json_depth`. Throws ApiError.
JsonInput parse_body(const std::string& body);

/// A field without a meaning here, and what it holds where it asks for nothing.
struct Neutral {
  std::string_view name;
  std::vector<JsonInput> values;
  /// Other values that ask for nothing: a range of numbers, mostly. None: there are none.
  bool (*holds)(const JsonInput& value) = nullptr;
};

/// Many budgets and numbers of slots ask for nothing below 0.
inline bool is_below_zero(const JsonInput& value) {
  return value.is_number() && value.get<double>() < 0;
}

/// The fields of a JSON object, each asked for by name and checked. null counts as absent. Throws ApiError
/// that names the field and its value.
class Fields {
 public:
  /// `path` stands before the names in errors. Requires: an object; it must outlive the reader.
  explicit Fields(const JsonInput& object, std::string path = "") : object_(object), path_(std::move(path)) {}

  std::optional<double> number(std::string_view name, double min, double max);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
  /// A whole number of at least `min`, however large: what does not fit is the largest or least that does.
  std::optional<std::int64_t> count(std::string_view name, std::int64_t min);
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::string> string(std::string_view name);
  /// Of any type; null where it is absent.
  const JsonInput* any(std::string_view name);
  /// An object, unread; null where it is absent.
  const JsonInput* object(std::string_view name);

  /// Throws where two of these names, which mean the same, hold values that do not.
  void agree(std::span<const std::string_view> names,
             bool (*same)(const JsonInput&, const JsonInput&) = are_equal);
  /// What has no meaning here is accepted where it asks for nothing: absent, null, or a neutral value.
  void neutral(std::span<const Neutral> table);
  /// Fields that nobody has asked for change nothing: each is named once in the log.
  void ignore_others() const;

 private:
  static bool are_equal(const JsonInput& a, const JsonInput& b) { return a == b; }
  std::string quoted(std::string_view name) const;

  const JsonInput& object_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace spectr::server
