#include "apps/server/requests/messages_request.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/requests/chat_messages.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

/// Prefix of a block that some clients prepend to the system prompt and that differs for every request.
constexpr std::string_view billing_header = "x-anthropic-billing-header:";

/// Calls `read(block, type, where)` for each block of a content; a string counts as one text block.
template <class Read>
void for_each_block(const JsonInput& content, const std::string& where, Read read) {
  if (content.is_string()) return read(JsonInput{{"type", "text"}, {"text", content}}, "text", where);
  if (!content.is_array()) {
    throw ApiError::invalid(
        fmt::format("'{}' must be a string or a list of blocks, got {}", where, shown(content)));
  }
  for (std::size_t i = 0; i < content.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", where, i);
    const JsonInput& block = content[i];
    if (!block.is_object() || !block.contains("type") || !block["type"].is_string())
      throw ApiError::invalid(fmt::format("'{}' must be an object with a type, got {}", place, shown(block)));
    read(block, block["type"].get<std::string>(), place);
  }
}

std::string block_text(const JsonInput& block, const char* name, const std::string& where) {
  return Fields(block, where + ".").string(name).value_or("");
}

[[noreturn]] void refuse_block(std::string_view type, const std::string& where) {
  throw ApiError::invalid(
      fmt::format("'{}' has the type {}, which is not supported", where, escape(type, max_shown)));
}

ChatMessage text_message(const char* role, const JsonInput& content, const std::string& where) {
  ChatMessage message{role, {}, !content.is_string()};
  for_each_block(content, where,
                 [&](const JsonInput& block, const std::string& type, const std::string& place) {
                   if (type == "tool_reference" && message.role == "tool")
                     return message.parts.push_back(block_text(block, "tool_name", place));
                   if (type != "text") refuse_block(type, place);
                   std::string text = block_text(block, "text", place);
                   const bool bills =
                       message.parts.empty() && message.role == "system" && text.starts_with(billing_header);
                   if (!bills) message.parts.push_back(std::move(text));
                 });
  return message;
}

/// Converts a tool result to a separate message. A search for tools returns references, of which the names
/// remain: the request describes the tools themselves.
ChatMessage tool_result(const JsonInput& block, const std::string& where) {
  Fields fields(block, where + ".");
  const JsonInput* content = fields.any("content");
  ChatMessage message =
      text_message("tool", content != nullptr ? *content : JsonInput(""), where + ".content");
  message.call_id = fields.string("tool_use_id");
  if (!message.call_id) throw ApiError::invalid(fmt::format("'{}.tool_use_id' is missing", where));
  return message;
}

ToolCall tool_use(const JsonInput& block, const std::string& where) {
  Fields fields(block, where + ".");
  ToolCall call{fields.string("id").value_or(""), fields.string("name").value_or(""), ""};
  if (call.name.empty()) throw ApiError::invalid(fmt::format("'{}.name' is missing", where));
  call.arguments = read_arguments(fields.object("input"), where + ".input");
  return call;
}

void add_message(const JsonInput& message, std::size_t i, std::vector<ChatMessage>& out) {
  const std::string where = fmt::format("messages[{}]", i);
  if (!message.is_object())
    throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown(message)));
  Fields fields(message, where + ".");
  const std::string role = fields.string("role").value_or("");
  const JsonInput* content = fields.any("content");
  fields.ignore_others();
  if (content == nullptr) throw ApiError::invalid(fmt::format("'{}.content' is missing", where));
  if (role == "system") return out.push_back(text_message("system", *content, where + ".content"));
  if (role != "user" && role != "assistant") {
    throw ApiError::invalid(
        fmt::format("'{}.role' must be user, assistant or system, got '{}'", where, escape(role, max_shown)));
  }
  ChatMessage said{role, {}, !content->is_string()};
  const bool is_answer = role == "assistant";
  const auto read = [&](const JsonInput& block, const std::string& type, const std::string& place) {
    if (type == "text") {
      said.parts.push_back(block_text(block, "text", place));
    } else if (type == "tool_result" && !is_answer) {
      out.push_back(tool_result(block, place));
    } else if (type == "tool_use" && is_answer) {
      said.calls.push_back(tool_use(block, place));
    } else if (type == "thinking" && is_answer) {
      said.reasoning = said.reasoning.value_or("") + block_text(block, "thinking", place);
    } else if (type != "redacted_thinking" || !is_answer) {
      refuse_block(type, place);
    }
  };
  for_each_block(*content, where + ".content", read);
  if (said.parts.empty() && !is_answer && !out.empty() && out.back().role == "tool") return;
  if (said.parts.empty()) said.parts.emplace_back();
  out.push_back(std::move(said));
}

std::vector<ChatMessage> read_messages(Fields& fields) {
  std::vector<ChatMessage> out;
  if (const JsonInput* system = fields.any("system")) {
    ChatMessage message = text_message("system", *system, "system");
    if (!message.parts.empty()) out.push_back(std::move(message));
  }
  const JsonInput* messages = fields.any("messages");
  if (messages == nullptr || !messages->is_array() || messages->empty())
    throw ApiError::invalid("'messages' must be a list of messages");
  if (messages->size() > max_messages) {
    throw ApiError::invalid(
        fmt::format("'messages' may have {} messages, got {}", max_messages, messages->size()));
  }
  for (std::size_t i = 0; i < messages->size(); ++i) add_message((*messages)[i], i, out);
  return out;
}

void read_tools(Fields& fields, ToolRequest& request) {
  const JsonInput* tools = fields.any("tools");
  if (tools != nullptr && !tools->is_array())
    throw ApiError::invalid(fmt::format("'tools' must be a list, got {}", shown(*tools)));
  for (std::size_t i = 0; tools != nullptr && i < tools->size(); ++i) {
    const std::string where = fmt::format("tools[{}]", i);
    if (!(*tools)[i].is_object())
      throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown((*tools)[i])));
    Fields tool((*tools)[i], where + ".");
    if (const auto type = tool.string("type").value_or("custom"); type != "custom") refuse_block(type, where);
    request.add(where, tool, "input_schema");
    for (const char* const hint : {"cache_control", "defer_loading"}) tool.any(hint);
    tool.ignore_others();
  }
  const JsonInput* choice = fields.object("tool_choice");
  if (choice == nullptr) return;
  Fields inner(*choice, "tool_choice.");
  const std::string type = inner.string("type").value_or("");
  const auto name = inner.string("name");
  if (type == "none") {
    request.choice = ToolRequest::Choice::none;
  } else if (type == "any") {
    request.require("");
  } else if (type == "tool") {
    if (!name || name->empty()) throw ApiError::invalid("'tool_choice.name' is missing");
    request.require(*name);
  } else if (type != "auto") {
    throw ApiError::invalid(
        fmt::format("'tool_choice.type' must be auto, any, tool or none, got '{}'", escape(type, max_shown)));
  }
  if (const auto single = inner.boolean("disable_parallel_tool_use")) request.parallel = !*single;
  inner.ignore_others();
}

void read_thinking(Fields& fields, GenerationRequest& request) {
  const JsonInput* thinking = fields.object("thinking");
  if (thinking == nullptr) return;
  Fields inner(*thinking, "thinking.");
  const std::string type = inner.string("type").value_or("");
  if (type != "enabled" && type != "disabled" && type != "adaptive") {
    throw ApiError::invalid(fmt::format("'thinking.type' must be enabled, adaptive or disabled, got '{}'",
                                        escape(type, max_shown)));
  }
  if (const auto tokens = inner.count("budget_tokens", 1); tokens && type == "enabled")
    request.reasoning_limit = {static_cast<std::size_t>(*tokens)};
  inner.any("display");
  inner.ignore_others();
  request.chat.values = JsonInput::object();
  request.chat.values["enable_thinking"] = type != "disabled";
}

void read_stop_sequences(Fields& fields, GenerationRequest& request) {
  constexpr std::size_t max_words = 32, max_bytes = 256;
  const JsonInput* words = fields.any("stop_sequences");
  if (words == nullptr) return;
  const auto fits = [](const JsonInput& word) {
    return word.is_string() && word.get_ref<const std::string&>().size() <= max_bytes;
  };
  if (!words->is_array() || words->size() > max_words || !std::ranges::all_of(*words, fits)) {
    throw ApiError::invalid(
        fmt::format("'stop_sequences' must be a list of {} strings of {} bytes at most, got {}", max_words,
                    max_bytes, shown(*words)));
  }
  for (const JsonInput& word : *words) request.stop_words.push_back(word.get<std::string>());
}

}  // namespace

GenerationRequest read_messages_request(const JsonInput& body, const RequestDefaults& defaults) {
  constexpr double huge_number = 1e6;
  GenerationRequest request = GenerationRequest::of(Api::messages, defaults);
  Fields fields(body);
  fields.string("model");  // may be any name
  request.chat.messages = read_messages(fields);
  read_tools(fields, request.chat.tools);
  read_thinking(fields, request);
  read_stop_sequences(fields, request);
  if (const auto limit = fields.count("max_tokens", 1)) request.limit = static_cast<std::size_t>(*limit);
  if (const auto value = fields.number("temperature", 0, huge_number)) request.warp.temperature = *value;
  if (const auto value = fields.number("top_p", 0, 1)) request.warp.top_p = *value;
  if (const auto value = fields.count("top_k", 0)) request.warp.top_k = static_cast<std::size_t>(*value);
  if (const auto value = fields.integer("seed", 0, std::numeric_limits<std::int64_t>::max()))
    request.seed = static_cast<std::uint64_t>(*value);
  request.stream = fields.boolean("stream").value_or(false);
  constexpr std::string_view without_effect[] = {"metadata",           "service_tier",  "betas",
                                                 "context_management", "output_config", "inference_geo"};
  for (const std::string_view name : without_effect) fields.any(name);
  static const Neutral switches[] = {{"mcp_servers", {JsonInput::array()}}, {"container", {}}};
  fields.neutral(switches);
  fields.ignore_others();
  return request;
}

}  // namespace spectr::server
