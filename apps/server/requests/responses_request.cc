#include "apps/server/requests/responses_request.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/requests/chat_messages.h"
#include "apps/server/requests/constraint_request.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr std::string_view item_roles[] = {"system", "developer", "user", "assistant"};

/// Reads a text or a list of parts with texts.
void read_parts(const JsonInput* content, const std::string& where, ChatMessage& message) {
  if (content == nullptr) throw ApiError::invalid(fmt::format("'{}' is missing", where));
  if (content->is_string()) return message.parts.push_back(content->get<std::string>());
  if (!content->is_array()) {
    throw ApiError::invalid(
        fmt::format("'{}' must be a string or a list of parts, got {}", where, shown(*content)));
  }
  constexpr std::string_view texts[] = {"input_text", "output_text", "text", "reasoning_text",
                                        "summary_text"};
  message.is_list = true;
  for (std::size_t i = 0; i < content->size(); ++i) {
    const std::string place = fmt::format("{}[{}]", where, i);
    const JsonInput& part = (*content)[i];
    if (!part.is_object())
      throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", place, shown(part)));
    Fields fields(part, place + ".");
    const std::string type = fields.string("type").value_or("");
    if (type != "refusal" && std::ranges::find(texts, type) == std::end(texts)) {
      throw ApiError::invalid(
          fmt::format("'{}' has the type {}, which is not supported", place, escape(type, max_shown)));
    }
    message.parts.push_back(fields.string(type == "refusal" ? "refusal" : "text").value_or(""));
  }
}

/// Assembles messages from the items of an input. Consecutive reasoning, text and tool calls form one
/// assistant message.
class ItemReader {
 public:
  void add(const JsonInput& item, const std::string& where) {
    if (!item.is_object())
      throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown(item)));
    Fields fields(item, where + ".");
    const std::string type = fields.string("type").value_or("message");
    if (type == "message") {
      add_message(fields, where);
    } else if (type == "function_call") {
      ToolCall call{fields.string("call_id").value_or(""), fields.string("name").value_or(""), ""};
      if (call.name.empty()) throw ApiError::invalid(fmt::format("'{}.name' is missing", where));
      call.arguments = read_arguments(fields.any("arguments"), where + ".arguments");
      answer().calls.push_back(std::move(call));
    } else if (type == "function_call_output") {
      ChatMessage result{"tool", {}};
      read_parts(fields.any("output"), where + ".output", result);
      result.call_id = fields.string("call_id");
      if (!result.call_id) throw ApiError::invalid(fmt::format("'{}.call_id' is missing", where));
      messages_.push_back(std::move(result));
    } else if (type == "reasoning") {
      add_reasoning(fields, where);
    } else {
      throw ApiError::invalid(
          fmt::format("'{}' has the type {}, which is not supported", where, escape(type, max_shown)));
    }
  }

  std::vector<ChatMessage> finish() && {
    for (ChatMessage& message : messages_) {
      if (message.parts.empty()) message.parts.emplace_back();
    }
    return std::move(messages_);
  }

 private:
  /// Returns the assistant message at the end, adding one if there is none.
  ChatMessage& answer() {
    if (messages_.empty() || messages_.back().role != "assistant") messages_.push_back({"assistant", {}});
    return messages_.back();
  }

  void add_message(Fields& fields, const std::string& where) {
    std::string role = fields.string("role").value_or("");
    if (std::ranges::find(item_roles, role) == std::end(item_roles)) {
      throw ApiError::invalid(fmt::format("'{}.role' must be system, developer, user or assistant, got '{}'",
                                          where, escape(role, max_shown)));
    }
    const JsonInput* content = fields.any("content");
    if (role == "developer") role = "system";
    const bool goes_on = role == "assistant" && answer().parts.empty() && answer().calls.empty();
    if (!goes_on) messages_.push_back({std::move(role), {}});
    read_parts(content, where + ".content", messages_.back());
  }

  void add_reasoning(Fields& fields, const std::string& where) {
    const JsonInput* content = fields.any("content");
    if (content == nullptr) content = fields.any("summary");
    ChatMessage thoughts{"assistant", {}};
    if (content != nullptr) read_parts(content, where + ".content", thoughts);
    if (thoughts.parts.empty()) return;
    messages_.push_back({"assistant", {}});
    messages_.back().reasoning = thoughts.text();
  }

  std::vector<ChatMessage> messages_;
};

std::vector<ChatMessage> read_input(Fields& fields) {
  std::vector<ChatMessage> messages;
  if (const auto instructions = fields.string("instructions"))
    messages.push_back(ChatMessage::of("system", *instructions));
  const JsonInput* input = fields.any("input");
  if (input == nullptr) throw ApiError::invalid("'input' is missing");
  if (input->is_string()) {
    messages.push_back(ChatMessage::of("user", input->get<std::string>()));
    return messages;
  }
  if (!input->is_array() || input->size() > max_messages) {
    throw ApiError::invalid(fmt::format("'input' must be a string or a list of {} items at most, got {}",
                                        max_messages, shown(*input)));
  }
  ItemReader reader;
  for (std::size_t i = 0; i < input->size(); ++i) reader.add((*input)[i], fmt::format("input[{}]", i));
  for (ChatMessage& message : std::move(reader).finish()) messages.push_back(std::move(message));
  if (input->empty()) messages.push_back(ChatMessage::of("user", ""));  // clients probe a server this way
  return messages;
}

void read_functions(Fields& fields, ToolRequest& request) {
  const JsonInput* tools = fields.any("tools");
  if (tools != nullptr && !tools->is_array())
    throw ApiError::invalid(fmt::format("'tools' must be a list, got {}", shown(*tools)));
  for (std::size_t i = 0; tools != nullptr && i < tools->size(); ++i) {
    const std::string where = fmt::format("tools[{}]", i);
    if (!(*tools)[i].is_object())
      throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown((*tools)[i])));
    Fields tool((*tools)[i], where + ".");
    const std::string type = tool.string("type").value_or("");
    if (type != "function") {
      spdlog::warn("skipped: '{}' has the type {}, which is not supported", where, escape(type, max_shown));
      continue;
    }
    request.add(where, tool, "parameters");
    tool.ignore_others();
  }
  request.parallel = fields.boolean("parallel_tool_calls");
  const JsonInput* choice = fields.any("tool_choice");
  if (choice == nullptr || *choice == "auto") return;
  if (*choice == "none") {
    request.choice = ToolRequest::Choice::none;
  } else if (*choice == "required") {
    request.require("");
  } else if (choice->is_object() && choice->contains("type") && (*choice)["type"] == "function") {
    request.require(Fields(*choice, "tool_choice.").string("name").value_or(""));
  } else {
    throw ApiError::invalid(
        fmt::format("'tool_choice' must be auto, none, required or name a function, got {}", shown(*choice)));
  }
}

void read_effort(Fields& fields, ChatRequest& chat) {
  const JsonInput* reasoning = fields.object("reasoning");
  if (reasoning == nullptr) return;
  Fields inner(*reasoning, "reasoning.");
  const auto effort = inner.string("effort");
  if (!effort || *effort == "none") return;
  chat.values = JsonInput::object();
  chat.values["reasoning_effort"] = *effort;
}

std::optional<Constraint> read_text_format(Fields& fields) {
  const JsonInput* text = fields.object("text");
  if (text == nullptr) return std::nullopt;
  Fields inner(*text, "text.");
  inner.any("verbosity");
  const JsonInput* format = inner.any("format");
  inner.ignore_others();
  return format == nullptr ? std::nullopt : read_format(*format, "text.format", "");
}

void refuse_states(Fields& fields) {
  if (fields.any("previous_response_id") != nullptr) {
    throw ApiError::invalid(
        "'previous_response_id' is not supported: responses are not stored; send the items");
  }
  static const Neutral switches[] = {
      {"conversation", {}}, {"background", {false}}, {"prompt", {}}, {"top_logprobs", {0}}};
  fields.neutral(switches);
}

}  // namespace

GenerationRequest read_responses_request(const JsonInput& body, const RequestDefaults& defaults) {
  constexpr double huge_number = 1e6;
  GenerationRequest request = GenerationRequest::of(Api::responses, defaults);
  Fields fields(body);
  fields.string("model");  // may be any name
  refuse_states(fields);
  request.chat.messages = read_input(fields);
  // A final assistant item is complete and not continued.
  request.chat.add_generation_prompt = true;
  read_functions(fields, request.chat.tools);
  read_effort(fields, request.chat);
  request.constraint = read_text_format(fields);
  if (const auto limit = fields.count("max_output_tokens", 1))
    request.limit = static_cast<std::size_t>(*limit);
  if (const auto value = fields.number("temperature", 0, huge_number)) request.warp.temperature = *value;
  if (const auto value = fields.number("top_p", 0, 1)) request.warp.top_p = *value;
  if (const auto value = fields.integer("seed", 0, std::numeric_limits<std::int64_t>::max()))
    request.seed = static_cast<std::uint64_t>(*value);
  request.stream = fields.boolean("stream").value_or(false);
  constexpr std::string_view without_effect[] = {"client_metadata",
                                                 "include",
                                                 "metadata",
                                                 "prompt_cache_key",
                                                 "prompt_cache_retention",
                                                 "service_tier",
                                                 "safety_identifier",
                                                 "store",
                                                 "stream_options",
                                                 "truncation",
                                                 "user",
                                                 "max_tool_calls"};
  for (const std::string_view name : without_effect) fields.any(name);
  fields.ignore_others();
  return request;
}

}  // namespace spectr::server
