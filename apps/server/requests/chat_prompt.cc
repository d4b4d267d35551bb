#include "apps/server/requests/chat_prompt.h"

#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/requests/chat_messages.h"
#include "apps/server/requests/fields.h"
#include "apps/support/json_input.h"
#include "spectr/text/jinja/from_json.h"

namespace spectr::server {

ChatRequest ChatRequest::read(Fields& fields) {
  ChatRequest request;
  const JsonInput* messages = fields.any("messages");
  request.messages = read_chat_messages(messages != nullptr ? *messages : JsonInput());
  if (const JsonInput* values = fields.object("chat_template_kwargs")) request.values = *values;
  if (const auto effort = fields.string("reasoning_effort"); effort && *effort != "none") {
    if (!request.values.is_object()) request.values = JsonInput::object();
    if (!request.values.contains("reasoning_effort")) request.values["reasoning_effort"] = *effort;
  }
  request.continue_final_message = fields.boolean("continue_final_message");
  request.add_generation_prompt = fields.boolean("add_generation_prompt");
  request.tools = ToolRequest::read(fields);
  return request;
}

MarkedText chat_prompt(const ChatRequest& request, const Result<ChatTemplate>& chat_template) {
  using Choice = ToolRequest::Choice;
  for (const char* name : own_chat_variables) {
    if (request.values.is_object() && request.values.contains(name)) {
      throw ApiError::invalid(
          fmt::format("'chat_template_kwargs.{}' is not supported: the server sets it", name));
    }
  }
  ChatTemplate::Conversation conversation;
  conversation.messages = request.messages;
  const ChatMessage& last = conversation.messages.back();
  const bool ends_in_answer = last.role == "assistant" && last.calls.empty();
  if (request.continue_final_message == true && request.add_generation_prompt == true)
    throw ApiError::invalid("'continue_final_message' and 'add_generation_prompt' exclude each other");
  if (request.continue_final_message == true && !ends_in_answer)
    throw ApiError::invalid("'continue_final_message' needs a last message of the assistant");
  if (request.tools.choice == Choice::required) {
    if (request.continue_final_message == true || request.add_generation_prompt == false)
      throw ApiError::invalid("'tool_choice' needs an answer that begins, which the other fields exclude");
  }
  conversation.opens_answer = request.add_generation_prompt.value_or(true);
  conversation.continues_last = ends_in_answer && request.tools.choice != Choice::required &&
                                request.continue_final_message.value_or(!request.add_generation_prompt);
  if (request.tools.offered()) conversation.tools = request.tools.tools;
  if (!chat_template) throw ApiError::invalid(chat_template.error().message);
  if (request.values.is_object())
    conversation.values = *valid(jinja::from_json(request.values, chat_template->quotes_content())).dict();
  return valid(chat_template->render(conversation));
}

}  // namespace spectr::server
