#include "capi/request.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "spectr/base/names.h"
#include "spectr/engine/rules/json_schema.h"
#include "spectr/text/chat/tool_call_text.h"

namespace spectr::capi {
namespace {

Result<ToolCall> call_of(const spectr_tool_call& given) {
  SPECTR_TRY_VOID(need(given.name, "name of a tool call"));
  SPECTR_TRY_VOID(need(given.arguments, "arguments of a tool call"));
  SPECTR_TRY_VOID(check_json(given.arguments, "arguments of a tool call"));
  if (!read_named_call(given.name, given.arguments))
    return error("arguments of a tool call must be a JSON object, got {}", quote(given.arguments));
  return ToolCall{given.id == nullptr ? "" : given.id, given.name, given.arguments};
}

Result<ChatMessage> message_of(const spectr_message& given) {
  SPECTR_TRY_VOID(need(given.role, "role of a message"));
  SPECTR_TRY_VOID(need_list(given.tool_calls, given.tool_call_count, "tool_calls of a message"));
  if (given.tool_call_count == 0) SPECTR_TRY_VOID(need(given.content, "content of a message"));
  ChatMessage message = ChatMessage::of(given.role, given.content == nullptr ? "" : given.content);
  for (std::size_t i = 0; i < given.tool_call_count; ++i) {
    SPECTR_TRY(ToolCall call, call_of(given.tool_calls[i]));
    message.calls.push_back(std::move(call));
  }
  if (given.tool_call_id != nullptr) message.call_id = given.tool_call_id;
  return message;
}

Result<ChatInput> chat_of(const spectr_request& given) {
  SPECTR_TRY_VOID(need_list(given.messages, given.message_count, "messages"));
  ChatInput chat;
  for (std::size_t i = 0; i < given.message_count; ++i) {
    SPECTR_TRY(ChatMessage message, message_of(given.messages[i]));
    chat.messages.push_back(std::move(message));
  }
  SPECTR_TRY(chat.tools, read_tool_use(given.tools == nullptr ? "" : given.tools,
                                       given.tool_choice == nullptr ? "" : given.tool_choice));
  return chat;
}

}  // namespace

Result<PromptInput> prompt_of(const spectr_request& given) {
  const int prompts = (given.prompt != nullptr) + (given.tokens != nullptr) + (given.messages != nullptr);
  if (prompts != 1) return error("exactly one of prompt, tokens and messages must be given, got {}", prompts);
  if (given.messages != nullptr) {
    SPECTR_TRY(ChatInput chat, chat_of(given));
    return PromptInput(std::move(chat));
  }
  if (given.tools != nullptr || given.tool_choice != nullptr)
    return error("tools and tool_choice need messages");
  if (given.prompt != nullptr) return PromptInput(std::string(given.prompt));
  return PromptInput(std::vector<Token>(given.tokens, given.tokens + given.token_count));
}

Result<Request> request_of(const spectr_request& given) {
  Request request;
  request.n = given.n;
  if (given.max_tokens > 0) request.limit = given.max_tokens;
  request.seed = given.seed;
  request.sampling.temperature = given.temperature;
  request.sampling.top_k = given.top_k;
  request.sampling.top_p = given.top_p;
  request.sampling.min_p = given.min_p;
  request.sampling.repeat_penalty = given.repeat_penalty;
  if (given.method != nullptr) request.method.method = given.method;
  if (given.plan != nullptr) request.method.others.plan = given.plan;
  if (given.drafts > 0) request.method.drafts = given.drafts;
  if (given.length > 0) request.method.length = given.length;
  SPECTR_TRY_VOID(need_list(given.stop, given.stop_count, "stop"));
  for (std::size_t i = 0; i < given.stop_count; ++i) {
    SPECTR_TRY_VOID(need(given.stop[i], "an entry of stop"));
    request.stop_words.emplace_back(given.stop[i]);
  }
  request.ignore_eos = given.ignore_eos;
  if (given.json_schema != nullptr && given.grammar != nullptr)
    return error("json_schema and grammar exclude each other");
  if (given.json_schema != nullptr)
    request.constraint = {Constraint::Kind::json_schema, given.json_schema, "json_schema"};
  if (given.grammar != nullptr) request.constraint = {Constraint::Kind::grammar, given.grammar, "grammar"};
  return request;
}

}  // namespace spectr::capi
