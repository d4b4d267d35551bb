#include "spectr/text/chat/tool_call_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "spectr/text/chat/call_space.h"
#include "spectr/text/chat/tool_schema.h"

namespace spectr {
namespace {

using CallJson = nlohmann::ordered_json;

constexpr std::string_view name_members[] = {"name", "tool_name", "function_name"};
constexpr std::string_view argument_members[] = {"arguments", "parameters", "args", "input"};
constexpr std::string_view wrapper_members[] = {"function", "tool_call", "function_call", "tool_calls"};
constexpr std::string_view cdata_open = "<![CDATA[", cdata_close = "]]>";
constexpr std::string_view other_members[] = {"type", "id", "tool_call_id"};

CallJson parse_call(std::string_view text) {
  return CallJson::parse(text, nullptr, false);
}

const CallJson* member_of(const CallJson& object, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = object.find(name); found != object.end()) return &*found;
  }
  return nullptr;
}

std::string dumped_call(const CallJson& json) {
  return json.dump(-1, ' ', false, CallJson::error_handler_t::replace);
}

/// Returns the arguments as an object. Some models write them as a JSON string.
std::optional<std::string> arguments_of(const CallJson* value) {
  if (value == nullptr || value->is_null()) return "{}";
  if (value->is_object()) return dumped_call(*value);
  if (!value->is_string()) return std::nullopt;
  const CallJson inner = parse_call(value->get_ref<const std::string&>());
  return inner.is_object() ? std::optional(dumped_call(inner)) : std::nullopt;
}

bool add_calls(const CallJson& json, const ToolSet& tools, bool strict, std::vector<ToolCall>& calls) {
  if (json.is_array()) {
    return !json.empty() && std::ranges::all_of(json, [&](const CallJson& one) {
      return one.is_object() && add_calls(one, tools, strict, calls);
    });
  }
  if (!json.is_object()) return false;
  const CallJson* name = member_of(json, name_members);
  if (name == nullptr) {
    const CallJson* inner = member_of(json, wrapper_members);
    if (inner != nullptr && inner->is_structured()) return add_calls(*inner, tools, strict, calls);
    // {NAME: ARGUMENTS}, as Apertus writes calls.
    if (strict || json.size() != 1 || !tools.has(json.begin().key()) || !json.begin()->is_object())
      return false;
    calls.push_back({"", json.begin().key(), dumped_call(*json.begin())});
    return true;
  }
  const CallJson* arguments = member_of(json, argument_members);
  if (!name->is_string() || (strict && arguments == nullptr)) return false;
  std::string called = *name;
  if (!tools.has(called)) return false;
  auto object = arguments_of(arguments);
  if (!object) return false;
  calls.push_back({"", std::move(called), *std::move(object)});
  return true;
}

/// Takes a mark from the beginning of `text`; white space in either has no meaning. With `counts` a number in
/// the mark stands for any.
bool take_mark(std::string_view& text, std::string_view mark, bool counts = false) {
  constexpr std::string_view digits = "0123456789";
  std::string_view rest = text;
  for (std::size_t i = 0; i < mark.size(); ++i) {
    if (call_space.contains(mark[i])) continue;
    rest.remove_prefix(after_space(rest));
    if (counts && digits.contains(mark[i]) && !rest.empty() && digits.contains(rest.front())) {
      i = std::min(mark.find_first_not_of(digits, i), mark.size()) - 1;
      rest.remove_prefix(std::min(rest.find_first_not_of(digits), rest.size()));
      continue;
    }
    if (!rest.starts_with(mark[i])) return false;
    rest.remove_prefix(1);
  }
  text = rest;
  return true;
}

bool begins_with(std::string_view text, std::string_view mark) {
  return take_mark(text, mark);
}

/// Takes the mark after the name of an argument. Returns whether it says that the value is a string, if it
/// does say so.
std::optional<ValueKinds> take_key_close(std::string_view& text, const ToolForm& form,
                                         std::optional<ValueKinds> kinds) {
  const auto others = around_other_values(form.key_close);
  if (take_mark(text, form.key_close)) {
    const bool is_text = !others.empty() && kinds && (*kinds & text_value_kind) != 0;
    return is_text ? text_value_kind : kinds.value_or(any_value_kind);
  }
  for (const std::string& other : others) {
    if (take_mark(text, other)) return any_value_kind & ~text_value_kind;
  }
  return std::nullopt;
}

/// Takes white space that the template writes around values from those of the form.
std::string_view without_margin(std::string_view value, const ToolForm& form) {
  if (form.value_lead.ends_with('\n') && value.starts_with('\n')) value.remove_prefix(1);
  if (form.value_tail.starts_with('\n') && value.ends_with('\n')) value.remove_suffix(1);
  return value;
}

/// Returns what stands between <![CDATA[ and ]]> in a value of such a form.
std::optional<std::string_view> cdata_of(std::string_view value, const ToolForm& form) {
  value = without_space(value);
  if (!form.cdata || !value.starts_with(cdata_open) || !value.ends_with(cdata_close)) return std::nullopt;
  value.remove_prefix(cdata_open.size());
  return value.substr(0, value.size() - cdata_close.size());
}

/// Returns the position of the mark that ends a value: the first that is followed by another argument or the
/// end of the call.
std::size_t end_of_value(std::string_view text, const ToolForm& form) {
  const std::size_t first = after_space(text);
  const bool is_quoted = form.cdata && text.substr(first).starts_with(cdata_open);
  std::size_t at = text.find(form.value_close, is_quoted ? text.find(cdata_close, first) : 0);
  for (; at != std::string_view::npos; at = text.find(form.value_close, at + 1)) {
    const std::string_view next = text.substr(at + form.value_close.size());
    if (after_space(next) == next.size() || begins_with(next, form.key_open)) break;
    if (std::ranges::any_of(form.closes, [&](const auto& mark) { return begins_with(next, mark); })) break;
  }
  return at;
}

}  // namespace

std::optional<std::vector<ToolCall>> read_json_calls(std::string_view text, const ToolSet& tools,
                                                     bool strict) {
  const CallJson json = parse_call(text);
  std::vector<ToolCall> calls;
  if (json.is_discarded() || !add_calls(json, tools, strict, calls)) return std::nullopt;
  return calls;
}

std::optional<ToolCall> read_named_call(std::string_view tool, std::string_view arguments) {
  const CallJson json = parse_call(arguments);
  if (!json.is_object()) return std::nullopt;
  return ToolCall{"", std::string(tool), dumped_call(json)};
}

std::optional<ToolCall> read_tagged_call(std::string_view text, const ToolSet& tools, const ToolForm& form) {
  text.remove_prefix(after_space(text));
  ToolCall call{"", std::string(tools.prefix_of(text)), ""};
  if (call.name.empty()) return std::nullopt;
  text.remove_prefix(call.name.size());
  if (!take_mark(text, form.middle, true)) return std::nullopt;
  CallJson arguments = CallJson::object();
  while (take_mark(text, form.key_open)) {
    const std::size_t key_end = text.find(form.key_close.front());
    if (key_end == std::string_view::npos) return std::nullopt;
    std::string key(text.substr(after_space(text), key_end - std::min(after_space(text), key_end)));
    key.erase(key.find_last_not_of(call_space) + 1);
    text.remove_prefix(key_end);
    const auto kinds = take_key_close(text, form, tools.kinds_of(call.name, key));
    if (!kinds) return std::nullopt;
    const std::size_t end = end_of_value(text, form);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view value = text.substr(0, end);
    text.remove_prefix(end + form.value_close.size());
    const auto quoted = cdata_of(value, form);
    arguments[key] = value_of_text(quoted ? *quoted : without_margin(value, form), *kinds);
  }
  if (form.closes.empty() || !begins_with(text, form.closes.front())) return std::nullopt;
  call.arguments = dumped_call(arguments);
  return call;
}

std::optional<bool> may_be_json_call(std::string_view text) {
  std::size_t at = after_space(text, 1);
  if (text.starts_with('[')) {
    if (at == text.size()) return std::nullopt;
    if (text[at] != '{') return false;
    at = after_space(text, at + 1);
  }
  if (at == text.size()) return std::nullopt;
  if (text[at] != '"') return false;
  const std::string_view rest = text.substr(at + 1);
  const std::string_view key = rest.substr(0, rest.find('"'));
  const auto fits = [&](std::string_view name) {
    return key.size() == rest.size() ? name.starts_with(key) : name == key;
  };
  const bool fitting = std::ranges::any_of(name_members, fits) ||
                       std::ranges::any_of(argument_members, fits) ||
                       std::ranges::any_of(wrapper_members, fits) || std::ranges::any_of(other_members, fits);
  if (!fitting) return false;
  return key.size() == rest.size() ? std::nullopt : std::optional(true);
}

}  // namespace spectr
