#include "apps/server/requests/chat_messages.h"

#include <algorithm>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/requests/fields.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr std::string_view roles[] = {"system", "developer", "user", "assistant", "tool"};

/// Reads the text of a message, or its parts {"type": "text", "text"}.
void read_content(const JsonInput* content, const std::string& where, ChatMessage& message) {
  // Assistant messages that consist of tool calls may have no content.
  if (content == nullptr && message.role == "assistant") {
    message.parts.emplace_back();
    return;
  }
  if (content == nullptr) throw ApiError::invalid(fmt::format("'{}content' is missing", where));
  if (content->is_string()) return message.parts.push_back(content->get<std::string>());
  if (!content->is_array()) {
    throw ApiError::invalid(
        fmt::format("'{}content' must be a string or a list of parts, got {}", where, shown(*content)));
  }
  message.is_list = true;
  for (const JsonInput& part : *content) {
    if (!part.is_object()) {
      throw ApiError::invalid(
          fmt::format("a part of '{}content' must be an object, got {}", where, shown(part)));
    }
    Fields fields(part, where + "content.");
    if (const auto type = fields.string("type"); type != "text") {
      throw ApiError::invalid(fmt::format("'{}content' may have text parts only, got {}", where,
                                          type ? escape(*type, max_shown) : "no type"));
    }
    message.parts.push_back(fields.string("text").value_or(""));
    fields.any("cache_control");  // cache hint of other servers, ignored
    fields.ignore_others();
  }
}

ChatMessage read_message(const JsonInput& message, std::size_t i) {
  const std::string where = fmt::format("messages[{}].", i);
  if (!message.is_object()) {
    throw ApiError::invalid(fmt::format("messages[{}] must be an object, got {}", i, shown(message)));
  }
  Fields fields(message, where);
  std::string role = fields.string("role").value_or("");
  if (std::ranges::find(roles, role) == std::end(roles)) {
    throw ApiError::invalid(
        fmt::format("'{}role' must be system, developer, user, assistant or tool, got '{}'", where,
                    escape(role, max_shown)));
  }
  if (role == "developer") role = "system";
  ChatMessage out{std::move(role), {}};
  out.name = fields.string("name");
  out.reasoning = fields.string("reasoning_content");
  static const Neutral switches[] = {
      {"annotations", {JsonInput::array()}}, {"function_call", {}}, {"refusal", {""}}, {"audio", {}}};
  fields.neutral(switches);
  if (const JsonInput* calls = fields.any("tool_calls")) read_calls(*calls, where, out);
  out.call_id = fields.string("tool_call_id");
  read_content(fields.any("content"), where, out);
  fields.ignore_others();
  return out;
}

}  // namespace

void read_calls(const JsonInput& calls, const std::string& where, ChatMessage& message) {
  if (!calls.is_array() || (message.role != "assistant" && !calls.empty())) {
    throw ApiError::invalid(
        fmt::format("'{}tool_calls' must be a list, of an assistant, got {}", where, shown(calls)));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string place = fmt::format("{}tool_calls[{}].", where, i);
    if (!calls[i].is_object()) {
      throw ApiError::invalid(
          fmt::format("'{}tool_calls[{}]' must be an object, got {}", where, i, shown(calls[i])));
    }
    Fields fields(calls[i], place);
    const JsonInput* function = fields.object("function");
    if (function == nullptr) throw ApiError::invalid(fmt::format("'{}function' is missing", place));
    ToolCall call;
    call.id = fields.string("id").value_or("");
    fields.any("type");
    fields.any("index");
    fields.ignore_others();
    Fields inner(*function, place + "function.");
    const auto name = inner.string("name");
    if (!name || name->empty()) throw ApiError::invalid(fmt::format("'{}function.name' is missing", place));
    call.name = *name;
    call.arguments = read_arguments(inner.any("arguments"), place + "function.arguments");
    inner.ignore_others();
    message.calls.push_back(std::move(call));
  }
}

std::string read_arguments(const JsonInput* arguments, std::string_view field) {
  if (arguments == nullptr) return "{}";
  if (arguments->is_object()) return arguments->dump(-1, ' ', false, JsonInput::error_handler_t::replace);
  if (arguments->is_string()) {
    const std::string& text = arguments->get_ref<const std::string&>();
    if (text.empty()) return "{}";
    if (const auto parsed = parse_json(text); parsed && parsed->is_object()) return text;
  }
  throw ApiError::invalid(fmt::format("'{}' must be a JSON object, or a string that holds one, got {}", field,
                                      shown(*arguments)));
}

std::vector<ChatMessage> read_chat_messages(const JsonInput& messages) {
  if (!messages.is_array() || messages.empty())
    throw ApiError::invalid("'messages' must be a list of messages");
  if (messages.size() > max_messages) {
    throw ApiError::invalid(
        fmt::format("'messages' may have {} messages, got {}", max_messages, messages.size()));
  }
  std::vector<ChatMessage> out;
  for (std::size_t i = 0; i < messages.size(); ++i) out.push_back(read_message(messages[i], i));
  return out;
}

}  // namespace spectr::server
