#include "apps/server/requests/constraint_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "apps/server/api_error.h"
#include "apps/support/json_input.h"

namespace spectr::server {
namespace {

using Kind = Constraint::Kind;

constexpr std::string_view any_object = R"({"type": "object"})";

Constraint of_schema(const JsonInput& schema, std::string field) {
  if (!schema.is_object() && !schema.is_boolean())
    throw ApiError::invalid(fmt::format("'{}' must be a JSON schema, got {}", field, shown(schema)));
  return {Kind::json_schema, schema.dump(), std::move(field)};
}

GrammarTrigger read_trigger(const JsonInput& value, const std::string& where) {
  using TriggerKind = GrammarTrigger::Kind;
  if (!value.is_object())
    throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown(value)));
  static constexpr std::pair<std::string_view, TriggerKind> kinds[] = {
      {"token", TriggerKind::token},  // llama.cpp also accepts their numbers, starting at 0
      {"word", TriggerKind::word},
      {"pattern", TriggerKind::pattern},
      {"pattern_full", TriggerKind::pattern_full}};
  Fields fields(value, where + ".");
  const JsonInput type = fields.any("type") != nullptr ? *fields.any("type") : JsonInput();
  const auto* kind = std::ranges::find_if(kinds, [&](const auto& one) {
    return type == JsonInput(one.first) || type == static_cast<std::uint64_t>(&one - kinds);
  });
  if (kind == std::end(kinds)) {
    throw ApiError::invalid(
        fmt::format("'{}.type' must be word, token, pattern or pattern_full, got {}", where, shown(type)));
  }
  GrammarTrigger trigger{kind->second};
  const auto text = fields.string("value");
  if (trigger.kind != TriggerKind::token) {
    if (!text) throw ApiError::invalid(fmt::format("'{}.value' is missing", where));
    trigger.text = *text;
    return trigger;
  }
  const auto token = fields.integer("token", 0, std::numeric_limits<Token>::max());
  if (!token) throw ApiError::invalid(fmt::format("'{}.token' is missing", where));
  trigger.token = static_cast<Token>(*token);
  return trigger;
}

/// Reads the triggers of a lazy grammar; empty if the grammar is not lazy.
std::vector<GrammarTrigger> read_triggers(Fields& fields) {
  constexpr std::size_t max_triggers = 256;
  const JsonInput* list = fields.any("grammar_triggers");
  const bool lazy = fields.boolean("grammar_lazy").value_or(false);
  if (list != nullptr && (!list->is_array() || list->size() > max_triggers)) {
    throw ApiError::invalid(fmt::format("'grammar_triggers' must be a list of at most {} triggers, got {}",
                                        max_triggers, shown(*list)));
  }
  std::vector<GrammarTrigger> triggers;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
    triggers.push_back(read_trigger((*list)[i], fmt::format("grammar_triggers[{}]", i)));
  if (!lazy) return {};
  if (triggers.empty()) throw ApiError::invalid("'grammar_lazy' needs 'grammar_triggers'");
  return triggers;
}

}  // namespace

std::optional<Constraint> read_format(const JsonInput& format, std::string_view name,
                                      std::string_view inner) {
  if (!format.is_object())
    throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", name, shown(format)));
  Fields fields(format, fmt::format("{}.", name));
  const std::string type = fields.string("type").value_or("");
  if (type == "text") return std::nullopt;
  if (type == "json_object") {
    // The schema may also be here, as in llama.cpp.
    if (const JsonInput* schema = fields.any("schema"))
      return of_schema(*schema, fmt::format("{}.schema", name));
    return Constraint{Kind::json_schema, std::string(any_object), std::string(name)};
  }
  if (type != "json_schema") {
    throw ApiError::invalid(fmt::format("'{}.type' must be text, json_object or json_schema, got '{}'", name,
                                        shortened(type, max_shown)));
  }
  const std::string field =
      inner.empty() ? fmt::format("{}.schema", name) : fmt::format("{}.{}.schema", name, inner);
  const JsonInput* holder = inner.empty() ? &format : fields.object(inner);
  if (holder == nullptr || !holder->contains("schema"))
    throw ApiError::invalid(fmt::format("'{}' is missing", field));
  return of_schema((*holder)["schema"], field);
}

std::optional<Constraint> read_plain_format(const JsonInput& format, std::string_view name) {
  if (format == "") return std::nullopt;
  if (format == "json") return Constraint{Kind::json_schema, std::string(any_object), std::string(name)};
  if (format.is_object()) return of_schema(format, std::string(name));
  throw ApiError::invalid(fmt::format("'{}' must be json or a JSON schema, got {}", name, shown(format)));
}

std::optional<Constraint> read_constraint(Fields& fields) {
  std::vector<Constraint> all;
  if (const JsonInput* format = fields.any("response_format")) {
    if (auto constraint = read_format(*format, "response_format", "json_schema"))
      all.push_back(*std::move(constraint));
  }
  // An empty object or string means no constraint, as in llama.cpp.
  if (const JsonInput* schema = fields.any("json_schema");
      schema != nullptr && *schema != JsonInput::object())
    all.push_back(of_schema(*schema, "json_schema"));
  std::vector<GrammarTrigger> triggers = read_triggers(fields);
  if (auto grammar = fields.string("grammar"); grammar && !grammar->empty()) {
    all.push_back({Kind::grammar, *std::move(grammar), "grammar"});
    all.back().triggers = std::move(triggers);
  } else if (!triggers.empty()) {
    throw ApiError::invalid("'grammar_lazy' needs a 'grammar'");
  }
  if (auto regex = fields.string("regex"); regex && !regex->empty())
    all.push_back({Kind::regex, *std::move(regex), "regex"});
  if (all.size() > 1)
    throw ApiError::invalid(fmt::format("'{}' and '{}' exclude each other", all[0].field, all[1].field));
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

}  // namespace spectr::server
