#include "spectr/text/chat/tool_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spectr/base/names.h"
#include "spectr/text/chat/call_space.h"
#include "spectr/text/chat/tool_call_parser.h"
#include "spectr/text/chat/tool_schema.h"

namespace spectr {
namespace {

using Structure = nlohmann::ordered_json;
using Structures = std::vector<Structure>;
using FormKind = ToolForm::Kind;

constexpr int max_value_depth = 8;
constexpr std::size_t max_key = 128;        // bytes
constexpr std::size_t part_units = 16;      // of the budget, per part of a text
constexpr std::size_t bytes_per_unit = 16;  // of schemas and texts

Structure fixed(std::string_view text) {
  return {{"type", "const_string"}, {"value", text}};
}

Structure matching(std::string pattern) {
  return {{"type", "regex"}, {"pattern", std::move(pattern)}};
}

Structure text_without(const std::string& mark) {
  return {{"type", "any_text"}, {"excludes", Structure::array({mark})}};
}

Structure in_order(Structures parts) {
  return {{"type", "sequence"}, {"elements", std::move(parts)}};
}

Structure one_of(Structures parts) {
  return parts.size() == 1 ? parts.front() : Structure{{"type", "or"}, {"elements", std::move(parts)}};
}

Structure repeated(const char* type, Structure part) {
  return {{"type", type}, {"content", std::move(part)}};
}

/// Returns a text of the template in which any id may replace those of the probe.
Structure template_text(std::string_view text) {
  for (const std::string_view id : ProbeCall::ids) {
    const std::size_t at = text.find(id);
    if (at == std::string_view::npos) continue;
    return in_order({template_text(text.substr(0, at)), matching("[0-9A-Za-z]{9}"),
                     template_text(text.substr(at + id.size()))});
  }
  return fixed(text);
}

/// Returns the mark at the beginning of a closing text.
std::string mark_at_front(std::string_view close) {
  const std::string_view mark = without_space(close);
  return std::string(mark.substr(0, std::min(mark.find('>'), mark.size() - 1) + 1));
}

/// Writes the calls of a form.
class StructureWriter {
 public:
  StructureWriter(const ToolForm& form, const CallRule& rule) : form_(form), rule_(rule) {}

  Result<std::string> write() {
    if (calls_read(1) == 0)
      return error(ErrorCode::unsupported, "'tools': calls of this model's form cannot be constrained");
    has_several_ = rule_.parallel && calls_read(2) == 2;
    Structures calls;
    for (const Tool& tool : rule_.tools) {
      SPECTR_TRY(Structure call, call_of(tool));
      calls.push_back(std::move(call));
    }
    calls_ = one_of(std::move(calls));
    Structures parts;
    if (!rule_.reasoning_open.empty()) {
      parts.push_back(repeated("optional", in_order({space(), fixed(rule_.reasoning_open),
                                                     text_without(mark_at_front(rule_.reasoning_close)),
                                                     fixed(rule_.reasoning_close)})));
    }
    parts.push_back(rule_.must_call ? required() : offered());
    try {
      return Structure{{"schemas", schemas_}, {"format", in_order(std::move(parts))}}.dump();
    } catch (const Structure::type_error&) {
      return error("the marks of calls in the chat template are not UTF-8");
    }
  }

 private:
  /// Returns the number of calls that the parser finds in a text with `count` calls without arguments.
  std::size_t calls_read(std::size_t count) const {
    if (form_.lead.empty() || form_.kind == FormKind::nested) return 0;
    const bool is_bare = form_.kind == FormKind::tagged || form_.kind == FormKind::python;
    const std::string arguments = is_bare ? "" : "{}";
    std::string text = form_.lead;
    for (std::size_t i = 0; i < count; ++i)
      text += (i > 0 ? form_.joint : "") + rule_.tools.front().name + form_.middle + arguments;
    ToolCallParser parser(form_, std::make_shared<const ToolSet>(rule_.tools.first(1)), true, true);
    const std::size_t found = parser.push(text + form_.tail).calls.size();
    return found + parser.finish().calls.size();
  }

  /// Returns the structure of an answer that must call.
  Structure required() const {
    Structure called = in_order({space(), from_lead(form_.lead)});
    if (rule_.content.empty()) return called;
    return one_of({called, Structure::parse(rule_.content)});
  }

  /// Returns the structure of free text in which a trigger begins a call.
  Structure offered() const {
    Structure rules = Structure::array();
    const auto add = [&](const std::string& trigger, std::string_view rest) {
      rules.push_back({trigger, from_lead(rest)});
    };
    bool begins_with_mark = false;
    for (const std::string& mark : form_.opens) {
      if (!form_.trigger.empty()) break;
      const std::size_t at = form_.lead.find(mark);
      begins_with_mark = begins_with_mark || at == 0;
      add(mark, at == std::string::npos ? form_.lead : std::string_view(form_.lead).substr(at + mark.size()));
    }
    if (!form_.trigger.empty()) {
      add(form_.trigger, "");
    } else if (!begins_with_mark) {
      add(form_.lead, "");
    }
    return {{"type", "dispatch"}, {"rules", std::move(rules)}, {"loop", rule_.parallel}};
  }

  /// Returns the structure of calls; `lead` is the rest of the text before the first name.
  Structure from_lead(std::string_view lead) const {
    Structures parts = {template_text(lead), calls_};
    if (has_several_) parts.push_back(repeated("star", in_order({template_text(form_.joint), calls_})));
    parts.push_back(template_text(form_.tail));
    return in_order(std::move(parts));
  }

  static Structure space() { return matching("[ \\t\\r\\n]{0,4}"); }

  Result<Structure> call_of(const Tool& tool) {
    const Structure middle =
        form_.middle_pattern.empty() ? template_text(form_.middle) : matching(form_.middle_pattern);
    const bool is_free = !rule_.must_call && !tool.strict;
    SPECTR_TRY(Structure arguments, is_free ? any_arguments(tool) : arguments_of(tool));
    return in_order({fixed(tool.name), middle, std::move(arguments)});
  }

  Result<Structure> any_arguments(const Tool& tool) const {
    if (form_.kind == FormKind::tagged || form_.kind == FormKind::python)
      return text_without(mark_at_front(form_.closes.empty() ? form_.tail : form_.closes.front()));
    return schema_of(tool, {{"type", "object"}, {"additionalProperties", true}});
  }

  Result<Structure> arguments_of(const Tool& tool) {
    ToolSchema schema = ToolSchema::parse(tool.parameters(), nullptr, false);
    if (form_.kind == FormKind::json || form_.kind == FormKind::named || form_.kind == FormKind::gemma) {
      // Arguments are an object, even if the schema allows other types.
      if (schema.is_object() && !schema.contains("type") && !schema.contains("$ref") &&
          !schema.contains("anyOf") && !schema.contains("oneOf") && !schema.contains("allOf"))
        schema["type"] = "object";
      return schema_of(tool, std::move(schema));
    }
    schemas_.push_back({{"json_schema", schema}, {"field", tool.field}});
    return members_of(tool, schema);
  }

  Structure schema_of(const Tool& tool, ToolSchema schema) const {
    Structure node = {{"type", "json_schema"}, {"json_schema", std::move(schema)}, {"field", tool.field}};
    if (form_.kind == FormKind::gemma) node["style"] = "gemma";
    return node;
  }

  /// Returns the structure of each property of a schema, a name and a value, in order.
  Result<Structure> members_of(const Tool& tool, const ToolSchema& schema) {
    for (const char* const name : {"$ref", "anyOf", "oneOf", "allOf", "enum", "const", "patternProperties",
                                   "minProperties", "maxProperties", "propertyNames"}) {
      if (schema.contains(name))
        return error("'{}': '{}' at '/' is not supported for the calls of this model", tool.field, name);
    }
    if (schema.contains("type") && schema["type"] != "object")
      return error("'{}': 'type' at '/' must be object", tool.field);
    const ToolSchema properties = schema.value("properties", ToolSchema::object());
    const ToolSchema required = schema.value("required", ToolSchema::array());
    const auto is_required = [&](const std::string& name) {
      return required.is_array() &&
             std::find(required.begin(), required.end(), ToolSchema(name)) != required.end();
    };
    Structures needed, others;
    for (const auto& [name, property] : properties.items()) {
      SPECTR_TRY(Structure member, member_of(tool, name, property, schema));
      if (form_.kind == FormKind::tagged) {
        needed.push_back(is_required(name) ? std::move(member) : repeated("optional", std::move(member)));
      } else {
        (is_required(name) ? needed : others).push_back(std::move(member));
      }
    }
    for (const ToolSchema& name : required) {
      if (name.is_string() && !properties.contains(name.get<std::string>())) {
        return error("'{}': '{}' in 'required' at '/' is not among 'properties'", tool.field,
                     escape(name.get<std::string>(), max_key));
      }
    }
    return form_.kind == FormKind::tagged ? in_order_or_nothing(std::move(needed))
                                          : separated(std::move(needed), std::move(others));
  }

  static Structure in_order_or_nothing(Structures parts) {
    return parts.empty() ? fixed("") : in_order(std::move(parts));
  }

  /// Returns comma-separated members: the required ones in order, then any number of the others.
  static Structure separated(Structures needed, Structures others) {
    Structures parts;
    for (Structure& member : needed) {
      if (!parts.empty()) parts.push_back(fixed(", "));
      parts.push_back(std::move(member));
    }
    if (others.empty()) return in_order_or_nothing(std::move(parts));
    const Structure other = one_of(std::move(others));
    const Structure more = repeated("star", in_order({fixed(", "), other}));
    if (parts.empty()) return repeated("optional", in_order({other, more}));
    parts.push_back(more);
    return in_order(std::move(parts));
  }

  Result<Structure> member_of(const Tool& tool, const std::string& name, const ToolSchema& property,
                              const ToolSchema& root) {
    const auto fits = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             std::string_view("_-.$@").contains(c);
    };
    if (name.empty() || name.size() > max_key || !std::ranges::all_of(name, fits)) {
      return error("'{}': the property '{}' is not supported for the calls of this model", tool.field,
                   escape(name, max_key));
    }
    if (form_.kind == FormKind::python) {
      SPECTR_TRY(Structure value, python_value(tool, property, root));
      return in_order({fixed(name + "="), std::move(value)});
    }
    Structures parts = {fixed(form_.key_open + name)};
    if (schema_accepts_text(property, root, budget_) == true) {
      parts.push_back(fixed(form_.value_lead));
      parts.push_back(text_value(property, root, 0));
    } else if (property.is_object() && !property.empty()) {
      SPECTR_TRY(Structure value, json_value(tool, property, root));
      Structures leads;
      for (const std::string& lead : around_other_values(form_.value_lead)) leads.push_back(fixed(lead));
      parts.push_back(leads.empty() ? fixed(form_.value_lead) : one_of(std::move(leads)));
      parts.push_back(std::move(value));
    } else {
      parts.push_back(fixed(form_.value_lead));
      parts.push_back(text_without(form_.value_close));
    }
    parts.push_back(fixed(form_.value_tail));
    if (budget_.is_spent()) return too_large(tool);
    return in_order(std::move(parts));
  }

  Result<Structure> python_value(const Tool& tool, const ToolSchema& property, const ToolSchema& root) {
    if (property.is_object() && property.value("type", ToolSchema()) == "boolean")
      return one_of({fixed("True"), fixed("False")});
    if (property.is_object() && property.value("type", ToolSchema()) == "null") return fixed("None");
    return json_value(tool, property, root);
  }

  /// Returns a property as a schema of its own, with the definitions that it may refer to.
  Result<Structure> json_value(const Tool& tool, const ToolSchema& property, const ToolSchema& root) {
    ToolSchema alone = property;
    const std::string text = property.dump();
    if (alone.is_object() && text.contains("\"$ref\"")) {
      std::string all = text;
      for (const char* const name : {"$defs", "definitions"}) {
        if (!root.contains(name)) continue;
        alone[name] = root[name];
        all += root[name].dump();
        if (!budget_.take(all.size() / bytes_per_unit)) return too_large(tool);
      }
      // References to other places would denote another schema.
      for (std::size_t at = 0; (at = all.find("\"$ref\":\"", at)) != std::string::npos;) {
        at += std::string_view("\"$ref\":\"").size();
        const std::string_view place = std::string_view(all).substr(at);
        if (place.starts_with("#/$defs/") || place.starts_with("#/definitions/")) continue;
        return error("'{}': '$ref' must refer to '#/$defs/…' for the calls of this model", tool.field);
      }
    }
    return Structure{{"type", "json_schema"}, {"json_schema", std::move(alone)}, {"field", tool.field}};
  }

  static std::unexpected<Error> too_large(const Tool& tool) {
    return error("'{}': the schema is too large for the calls of this model, with its references",
                 tool.field);
  }

  /// Returns the structure of a string without quotes, up to the mark after it.
  Structure text_value(const ToolSchema& schema, const ToolSchema& root, int depth) {
    static const ToolSchema none = ToolSchema::array();
    const auto list = [&](const char* name) -> const ToolSchema& {
      const auto found = schema.find(name);
      return found != schema.end() && budget_.take(part_units * found->size()) ? *found : none;
    };
    if (depth > max_value_depth || !schema.is_object() || !budget_.take(part_units))
      return text_without(form_.value_close);
    if (const ToolSchema* referred = referred_schema(schema, root))
      return text_value(*referred, root, depth + 1);
    const auto exactly = [&](const ToolSchema& value) {
      const std::string& text = value.get_ref<const std::string&>();
      return budget_.take(text.size() / bytes_per_unit) ? fixed(text) : fixed("");
    };
    Structures parts;
    if (const auto value = schema.find("const"); value != schema.end() && value->is_string())
      return exactly(*value);
    for (const ToolSchema& value : list("enum")) {
      if (value.is_string()) parts.push_back(exactly(value));
    }
    for (const char* const name : {"anyOf", "oneOf"}) {
      for (const ToolSchema& member : list(name)) {
        if (schema_accepts_text(member, root, budget_) == true)
          parts.push_back(text_value(member, root, depth + 1));
      }
    }
    if (!parts.empty()) return one_of(std::move(parts));
    if (const auto pattern = schema.find("pattern"); pattern != schema.end() && pattern->is_string()) {
      std::string_view whole = pattern->get_ref<const std::string&>();
      if (whole.starts_with('^')) whole.remove_prefix(1);
      if (whole.ends_with('$') && !whole.ends_with("\\$")) whole.remove_suffix(1);
      if (!whole.empty() && budget_.take(whole.size() / bytes_per_unit)) return matching(std::string(whole));
    }
    return text_of_length(schema);
  }

  Structure text_of_length(const ToolSchema& schema) const {
    const auto count = [&](const char* name) {
      const auto found = schema.find(name);
      const bool is_count = found != schema.end() && found->is_number_unsigned();
      return is_count ? std::optional(found->get<std::uint64_t>()) : std::nullopt;
    };
    const auto min = count("minLength"), max = count("maxLength");
    const std::string other = fmt::format("[^{}]", escaped_pattern(form_.value_close.substr(0, 1)));
    if (max) return matching(fmt::format("{}{{{},{}}}", other, std::min(min.value_or(0), *max), *max));
    if (!min || *min == 0) return text_without(form_.value_close);
    return in_order({matching(fmt::format("{}{{{}}}", other, *min)), text_without(form_.value_close)});
  }

  const ToolForm& form_;
  const CallRule& rule_;
  SchemaBudget budget_;
  bool has_several_ = false;  // several calls in a row
  Structure calls_;
  Structure schemas_ = Structure::array();
};

}  // namespace

Result<std::string> call_structure(const ToolForm& form, const CallRule& rule) {
  return StructureWriter(form, rule).write();
}

}  // namespace spectr
