#include "spectr/text/chat/tool_values.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "spectr/text/chat/call_literals.h"
#include "spectr/text/jinja/from_json.h"

namespace spectr {

jinja::Value json_value(std::string_view json, bool quoted) {
  const auto parsed = nlohmann::ordered_json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return {};
  return jinja::from_json(parsed, quoted).value_or(jinja::Value());
}

jinja::List tools_value(const std::vector<Tool>& tools, bool quoted) {
  jinja::List list;
  for (const Tool& tool : tools) list.push_back(json_value(tool.definition, quoted));
  return list;
}

std::string tool_instructions(const std::vector<Tool>& tools) {
  std::string text =
      "You can call functions. To call one, answer with a JSON object and nothing else:\n"
      "{\"name\": \"function name\", \"arguments\": {\"parameter\": \"value\"}}\n"
      "These are the functions:";
  for (const Tool& tool : tools) text += '\n' + tool.definition;
  return text;
}

std::string text_of_calls(const std::vector<ToolCall>& calls, const ToolForm& form) {
  const std::string joint = form.joint.empty() ? form.tail + "\n" + form.lead : form.joint;
  std::string text;
  for (const ToolCall& call : calls) {
    text += text.empty() ? form.lead : joint;
    const bool is_python = form.kind == ToolForm::Kind::python;
    text += call.name + form.middle + (is_python ? python_arguments(call.arguments) : call.arguments);
  }
  return text + form.tail;
}

std::string short_id(std::string_view id) {
  constexpr std::size_t length = 9;
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  if (id.size() == length && std::ranges::all_of(id, is_plain)) return std::string(id);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string out;
  for (; out.size() < length; hash /= digits.size()) out += digits[hash % digits.size()];
  return out;
}

}  // namespace spectr
