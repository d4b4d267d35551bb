#include "apps/server/requests/chat_prompt.h"

#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/requests/fields.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"
#include "spectr/text/jinja/from_json.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_messages = 4096;
constexpr std::string_view roles[] = {"system", "developer", "user", "assistant"};

/// Reads the text of a message, or its parts {"type": "text", "text"}.
void read_content(const JsonInput* content, const std::string& where, ChatMessage& message) {
  // An assistant that only called something may have said nothing.
  if (content == nullptr && message.role == "assistant") return message.parts.push_back("");
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
    fields.any("cache_control");  // which prompts others shall remember
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
    throw ApiError::invalid(fmt::format("'{}role' must be system, developer, user or assistant, got '{}'",
                                        where, escape(role, max_shown)));
  }
  if (role == "developer") role = "system";
  ChatMessage out{std::move(role), {}};
  out.name = fields.string("name");
  out.reasoning = fields.string("reasoning_content");
  static const Neutral switches[] = {{"tool_calls", {JsonInput::array()}},
                                     {"annotations", {JsonInput::array()}},
                                     {"function_call", {}},
                                     {"refusal", {""}},
                                     {"audio", {}}};
  fields.neutral(switches);  // before the content, which is not there where tools are called
  read_content(fields.any("content"), where, out);
  fields.ignore_others();
  return out;
}

}  // namespace

ChatRequest ChatRequest::read(Fields& fields) {
  ChatRequest request;
  if (const JsonInput* messages = fields.any("messages")) request.messages = *messages;
  if (const JsonInput* values = fields.object("chat_template_kwargs")) request.values = *values;
  if (const auto effort = fields.string("reasoning_effort"); effort && *effort != "none") {
    if (!request.values.is_object()) request.values = JsonInput::object();
    if (!request.values.contains("reasoning_effort")) request.values["reasoning_effort"] = *effort;
  }
  request.continue_final_message = fields.boolean("continue_final_message");
  request.add_generation_prompt = fields.boolean("add_generation_prompt");
  return request;
}

MarkedText chat_prompt(const ChatRequest& request, const Result<ChatTemplate>& chat_template) {
  const JsonInput& messages = request.messages;
  if (!messages.is_array() || messages.empty())
    throw ApiError::invalid("'messages' must be a list of messages");
  if (messages.size() > max_messages) {
    throw ApiError::invalid(
        fmt::format("'messages' may have {} messages, got {}", max_messages, messages.size()));
  }
  for (const char* name : own_chat_variables) {
    if (request.values.is_object() && request.values.contains(name)) {
      throw ApiError::invalid(
          fmt::format("'chat_template_kwargs.{}' is not supported: the server sets it", name));
    }
  }
  ChatTemplate::Conversation conversation;
  for (std::size_t i = 0; i < messages.size(); ++i)
    conversation.messages.push_back(read_message(messages[i], i));
  const bool ends_in_answer = conversation.messages.back().role == "assistant";
  if (request.continue_final_message == true && request.add_generation_prompt == true)
    throw ApiError::invalid("'continue_final_message' and 'add_generation_prompt' exclude each other");
  if (request.continue_final_message == true && !ends_in_answer)
    throw ApiError::invalid("'continue_final_message' needs a last message of the assistant");
  conversation.opens_answer = request.add_generation_prompt.value_or(true);
  conversation.continues_last =
      ends_in_answer && request.continue_final_message.value_or(!request.add_generation_prompt);
  if (!chat_template) throw ApiError::invalid(chat_template.error().message);
  if (request.values.is_object())
    conversation.values = *valid(jinja::from_json(request.values, chat_template->quotes_content())).dict();
  return valid(chat_template->render(conversation));
}

}  // namespace spectr::server
