#include "spectr/engine/tools/tool_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/engine/rules/json_schema.h"
#include "spectr/text/chat/tool_structure.h"

namespace spectr {
namespace {

using ToolJson = nlohmann::ordered_json;

constexpr std::size_t max_tools = 1024;
constexpr std::size_t max_tool_name = 128;        // bytes
constexpr std::size_t max_quoted_tool_name = 40;  // bytes of a name in errors

bool is_tool_name(std::string_view name) {
  static constexpr std::string_view others = "_-.:/";
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || others.contains(c);
  };
  return !name.empty() && name.size() <= max_tool_name && std::ranges::all_of(name, fits);
}

std::string json_string(const std::string& text) {
  return ToolJson(text).dump(-1, ' ', false, ToolJson::error_handler_t::replace);
}

}  // namespace

bool ToolUse::constrains() const {
  return choice == Choice::required || (offered() && std::ranges::any_of(tools, &Tool::strict));
}

Result<void> ToolUse::add(FunctionDescription function) {
  if (!is_tool_name(function.name)) {
    return error("'{}.name' must have 1 to {} letters, digits and _ - . : /, got '{}'", function.where,
                 max_tool_name, escape(function.name, max_quoted_tool_name));
  }
  if (std::ranges::find(tools, function.name, &Tool::name) != tools.end())
    return error("'{}.name' is '{}', the name of another tool", function.where, function.name);
  if (tools.size() == max_tools) return error("'tools' may have {} tools", max_tools);
  std::string definition =
      fmt::format(R"({{"type":"function","function":{{"name":{})", json_string(function.name));
  if (function.description) definition += R"(,"description":)" + json_string(*function.description);
  // Some chat templates require a schema.
  definition += R"(,"parameters":)" +
                (function.parameters.empty() ? R"({"type":"object","properties":{}})" : function.parameters) +
                "}}";
  tools.push_back(
      {std::move(function.name), std::move(definition), function.strict, std::move(function.schema)});
  return {};
}

Result<void> ToolUse::require(std::string name) {
  if (tools.empty()) return error("'tool_choice' needs 'tools'");
  if (!name.empty() && std::ranges::find(tools, name, &Tool::name) == tools.end()) {
    return error("'tool_choice' names '{}', which is not among 'tools'", escape(name, max_quoted_tool_name));
  }
  choice = Choice::required;
  named = std::move(name);
  return {};
}

Result<std::optional<Constraint>> constraint_with_calls(const ToolUse& use, const ChatTemplate& chat_template,
                                                        const ReasoningSplit& split,
                                                        const std::optional<Constraint>& content) {
  using Kind = Constraint::Kind;
  const bool must_call = use.choice == ToolUse::Choice::required;
  if (content && (content->kind != Kind::json_schema || must_call)) {
    return error("'{}' and '{}' exclude each other", content->field,
                 content->kind != Kind::json_schema ? "tools" : "tool_choice");
  }
  if (!content && !use.constrains()) return std::nullopt;
  const ToolForm& form = chat_template.tool_form();
  std::vector<Tool> callable = use.tools;
  if (!use.named.empty()) std::erase_if(callable, [&](const Tool& tool) { return tool.name != use.named; });
  CallRule rule{.tools = callable,
                .must_call = content || must_call,
                .parallel = form.parallel && use.parallel.value_or(true)};
  const bool is_harmony = split.form->kind == ReasoningForm::Kind::harmony;
  const std::string mark(content_mark(*split.form, split.begun));
  if (is_harmony || (mark.empty() && chat_template.knows_thoughts())) {
    const ReasoningMarks marks = reasoning_marks(*split.form);
    rule.reasoning_open = marks.open;
    rule.reasoning_close = marks.close;
  }
  if (content) {
    SPECTR_TRY_VOID(check_json(content->source, content->field));
    rule.content =
        fmt::format(R"({{"type":"sequence","elements":[{{"type":"const_string","value":{}}},)"
                    R"({{"type":"json_schema","field":{},"json_schema":{}}}]}})",
                    json_string(is_harmony ? mark : ""), json_string(content->field), content->source);
  }
  SPECTR_TRY(std::string structure, call_structure(form, rule));
  return Constraint{Kind::structure, std::move(structure), "tools", is_harmony ? "" : mark};
}

}  // namespace spectr
