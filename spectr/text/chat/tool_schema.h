#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace spectr {

// JSON schemas of tool arguments.

using ToolSchema = nlohmann::ordered_json;

/// Returns the definition that a schema refers to, or null if it has no reference or one to another place.
/// `root`: the schema that has the definitions.
const ToolSchema* referred_schema(const ToolSchema& schema, const ToolSchema& root);

/// Kinds of values, as bits of a set.
using ValueKinds = unsigned;
inline constexpr ValueKinds text_value_kind = 1, integer_value_kind = 2, number_value_kind = 4,
                            boolean_value_kind = 8, null_value_kind = 16, object_value_kind = 32,
                            list_value_kind = 64, any_value_kind = 127;

/// Returns the kind of a value.
ValueKinds kind_of_value(const ToolSchema& value);

/// Bounds the work with schemas whose references make them large.
class SchemaBudget {
 public:
  /// Takes `count` units. Returns false if there are not that many; then none are left.
  bool take(std::size_t count);
  bool is_spent() const { return left_ == 0; }

 private:
  std::size_t left_ = std::size_t{1} << 20;
};

/// Returns the kinds of values that a schema accepts. None: it does not say, or the budget is spent. Cost:
/// linear, in units of the budget.
std::optional<ValueKinds> schema_value_kinds(const ToolSchema& schema, const ToolSchema& root,
                                             SchemaBudget& budget);

/// Reads a value of one of these kinds that is written without quotes if it is a string. What the kinds rule
/// out is text. Models of some families write Python's constants.
ToolSchema value_of_text(std::string_view text, ValueKinds kinds);

/// Whether a schema accepts a string. None and cost: as for schema_value_kinds().
std::optional<bool> schema_accepts_text(const ToolSchema& schema, const ToolSchema& root,
                                        SchemaBudget& budget);

}  // namespace spectr
