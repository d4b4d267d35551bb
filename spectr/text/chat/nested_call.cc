#include "spectr/text/chat/nested_call.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "spectr/text/chat/call_space.h"
#include "spectr/text/chat/tool_schema.h"

namespace spectr {
namespace {

using Schema = ToolSchema;

constexpr int max_nesting = 64;
constexpr std::string_view list_key = "item";

/// Returns the schema of a member, or of the elements of a list; an empty one if there is none.
const Schema& schema_of_part(const Schema& schema, const Schema& root, std::string_view key) {
  static const Schema unknown = Schema::object();
  if (!schema.is_object()) return unknown;
  if (const Schema* referred = referred_schema(schema, root)) return *referred;
  if (const auto members = schema.find("properties"); members != schema.end() && members->is_object()) {
    if (const auto member = members->find(key); member != members->end()) return *member;
  }
  const auto items = schema.find("items");
  if (key == list_key && items != schema.end()) return *items;
  for (const char* const name : {"anyOf", "oneOf"}) {
    const auto choices = schema.find(name);
    if (choices == schema.end() || !choices->is_array()) continue;
    for (const Schema& choice : *choices) {
      if (const Schema& part = schema_of_part(choice, root, key); !part.empty()) return part;
    }
  }
  return unknown;
}

/// A cursor in elements.
class ElementReader {
 public:
  ElementReader(std::string_view text, const ToolForm& form, const Schema& root)
      : rest_(text), form_(form), root_(root) {}

  bool at_end() {
    rest_.remove_prefix(after_space(rest_));
    return rest_.empty();
  }

  /// Reads elements up to a closing tag or the end.
  std::optional<Schema> elements(const Schema& schema, int depth) {
    std::vector<std::pair<std::string, Schema>> members;
    while (begins_element()) {
      rest_.remove_prefix(form_.key_open.size());
      const std::size_t size = rest_.find(form_.key_close);
      if (size == std::string_view::npos || depth > max_nesting) return std::nullopt;
      std::string key(rest_.substr(0, size));
      rest_.remove_prefix(size + form_.key_close.size());
      auto value = read(key, schema_of_part(schema, root_, key), depth);
      if (!value) return std::nullopt;
      members.emplace_back(std::move(key), *std::move(value));
    }
    const auto kinds = schema_value_kinds(schema, root_, budget_).value_or(any_value_kind);
    const bool are_items = depth > 0 && std::ranges::all_of(members, [](const auto& member) {
                             return member.first == list_key;
                           });
    const bool is_list = kinds == list_value_kind || (are_items && (kinds & list_value_kind) != 0);
    Schema value = is_list ? Schema::array() : Schema::object();
    for (auto& [key, member] : members) {
      if (is_list) {
        value.push_back(std::move(member));
      } else {
        value[key] = std::move(member);
      }
    }
    return value;
  }

 private:
  bool begins_element() {
    const std::string_view next = rest_.substr(after_space(rest_));
    if (!next.starts_with(form_.key_open) || next.starts_with(form_.value_close)) return false;
    rest_ = next;
    return true;
  }

  /// Reads what stands in an element, and the tag that closes it.
  std::optional<Schema> read(const std::string& key, const Schema& schema, int depth) {
    const std::string close = form_.value_close + key + form_.key_close;
    const auto kinds = schema_value_kinds(schema, root_, budget_).value_or(any_value_kind);
    std::optional<Schema> value;
    const std::size_t size = rest_.find(close);
    if (size == std::string_view::npos) return std::nullopt;
    const bool has_elements = kinds != text_value_kind && begins_element();
    if (has_elements || (without_space(rest_.substr(0, size)).empty() &&
                         (kinds == list_value_kind || kinds == object_value_kind))) {
      value = elements(schema, depth + 1);
      rest_.remove_prefix(after_space(rest_));
      if (!rest_.starts_with(close)) return std::nullopt;
    } else {
      value = value_of_text(rest_.substr(0, size), kinds);
      rest_.remove_prefix(size);
    }
    rest_.remove_prefix(close.size());
    return value;
  }

  std::string_view rest_;
  const ToolForm& form_;
  const Schema& root_;
  SchemaBudget budget_;
};

}  // namespace

std::optional<ToolCall> read_nested_call(std::string_view text, const ToolSet& tools, const ToolForm& form) {
  text.remove_prefix(after_space(text));
  ToolCall call{"", std::string(tools.prefix_of(text)), ""};
  if (call.name.empty()) return std::nullopt;
  text.remove_prefix(call.name.size());
  if (!text.starts_with(form.middle)) return std::nullopt;
  const Schema schema = Schema::parse(tools.parameters_of(call.name), nullptr, false);
  ElementReader reader(text.substr(form.middle.size()), form, schema);
  const auto arguments = reader.elements(schema, 0);
  if (!arguments || !reader.at_end()) return std::nullopt;
  call.arguments = arguments->dump(-1, ' ', false, Schema::error_handler_t::replace);
  return call;
}

}  // namespace spectr
