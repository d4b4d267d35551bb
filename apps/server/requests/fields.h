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

/// Parses a body: a JSON object of at most `max_json_depth` levels. Throws ApiError.
JsonInput parse_body(const std::string& body);

/// A field of other servers, with the values that request nothing.
struct Neutral {
  std::string_view name;
  std::vector<JsonInput> values;
  /// Recognizes further values that request nothing, such as a range of numbers. Null: there are none.
  bool (*holds)(const JsonInput& value) = nullptr;
};

/// Matches negative numbers, which for many budgets and slot numbers request nothing.
inline bool is_below_zero(const JsonInput& value) {
  return value.is_number() && value.get<double>() < 0;
}

/// Typed access to the fields of a JSON object. null counts as absent. Throws ApiError naming the field
/// and its value.
class Fields {
 public:
  /// `path` is the prefix of names in errors. Requires: an object, which must outlive this.
  explicit Fields(const JsonInput& object, std::string path = "") : object_(object), path_(std::move(path)) {}

  std::optional<double> number(std::string_view name, double min, double max);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
  /// Returns an integer of at least `min`, clamped to the range of std::int64_t.
  std::optional<std::int64_t> count(std::string_view name, std::int64_t min);
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::string> string(std::string_view name);
  /// Returns a field of any type; null if it is absent.
  const JsonInput* any(std::string_view name);
  /// Returns an object; null if it is absent.
  const JsonInput* object(std::string_view name);

  /// Throws if two of these names, which are synonyms, have different values.
  void agree(std::span<const std::string_view> names,
             bool (*same)(const JsonInput&, const JsonInput&) = are_equal);
  /// Accepts unsupported fields if they request nothing: absent, null, or a neutral value.
  void neutral(std::span<const Neutral> table);
  /// Ignores the remaining fields. Each name is logged once.
  void ignore_others() const;

 private:
  static bool are_equal(const JsonInput& a, const JsonInput& b) { return a == b; }
  std::string quoted(std::string_view name) const;

  const JsonInput& object_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace spectr::server
