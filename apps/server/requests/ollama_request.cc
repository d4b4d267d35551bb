#include "apps/server/requests/ollama_request.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/server/api_error.h"
#include "apps/server/requests/chat_messages.h"
#include "apps/server/requests/constraint_request.h"
#include "apps/server/requests/foreign_fields.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr std::string_view ollama_roles[] = {"system", "user", "assistant", "tool"};
constexpr std::string_view efforts[] = {"low", "medium", "high", "max"};

/// Options that only the server's flags can set, or that affect the prompt cache. They are ignored.
constexpr std::string_view runner_options[] = {
    "num_ctx",    "num_keep",   "num_batch",  "num_gpu",          "main_gpu",
    "num_thread", "numa",       "low_vram",   "f16_kv",           "use_mmap",
    "use_mlock",  "vocab_only", "logits_all", "penalize_newline", "draft_num_predict"};

void refuse_images(Fields& fields) {
  static const Neutral images[] = {{"images", {JsonInput::array()}}};
  fields.neutral(images);
}

ChatMessage read_ollama_message(const JsonInput& json, std::size_t i) {
  const std::string where = fmt::format("messages[{}]", i);
  if (!json.is_object())
    throw ApiError::invalid(fmt::format("'{}' must be an object, got {}", where, shown(json)));
  Fields fields(json, where + ".");
  ChatMessage message{fields.string("role").value_or(""), {}};
  if (std::ranges::find(ollama_roles, message.role) == std::end(ollama_roles)) {
    throw ApiError::invalid(fmt::format("'{}.role' must be system, user, assistant or tool, got '{}'", where,
                                        escape(message.role, max_shown)));
  }
  message.parts.push_back(fields.string("content").value_or(""));
  message.reasoning = fields.string("thinking");
  message.name = fields.string("tool_name");
  message.call_id = fields.string("tool_call_id");
  if (const JsonInput* calls = fields.any("tool_calls")) read_calls(*calls, where + ".", message);
  refuse_images(fields);
  fields.ignore_others();
  return message;
}

void read_ollama_chat(Fields& fields, GenerationRequest& request) {
  const JsonInput* messages = fields.any("messages");
  if (messages != nullptr && (!messages->is_array() || messages->size() > max_messages)) {
    throw ApiError::invalid(fmt::format("'messages' must be a list of at most {} messages, got {}",
                                        max_messages, shown(*messages)));
  }
  for (std::size_t i = 0; messages != nullptr && i < messages->size(); ++i)
    request.chat.messages.push_back(read_ollama_message((*messages)[i], i));
  request.chat.tools = ToolRequest::read(fields);
  request.only_loads = request.chat.messages.empty();
}

/// Reads the prompt: a user message, raw text, or the text before and after a gap.
void read_ollama_prompt(Fields& fields, GenerationRequest& request) {
  auto prompt = fields.string("prompt").value_or("");
  auto suffix = fields.string("suffix").value_or("");
  auto system = fields.string("system").value_or("");
  const bool raw = fields.boolean("raw").value_or(false);
  static const Neutral switches[] = {{"template", {""}}, {"context", {JsonInput::array()}}};
  fields.neutral(switches);
  refuse_images(fields);
  if (raw && !system.empty()) throw ApiError::invalid("'raw' and 'system' exclude each other");
  request.only_loads = prompt.empty() && suffix.empty();
  if (request.only_loads) return;
  if (!suffix.empty()) request.infill = InfillRequest{.suffix = std::move(suffix)};
  if (raw || request.infill) {
    request.prompt = std::move(prompt);
    return;
  }
  if (!system.empty()) request.chat.messages.push_back(ChatMessage::of("system", std::move(system)));
  request.chat.messages.push_back(ChatMessage::of("user", std::move(prompt)));
}

void read_think(Fields& fields, ChatRequest& chat) {
  const JsonInput* think = fields.any("think");
  if (think == nullptr) return;
  const bool is_effort =
      think->is_string() &&
      std::ranges::find(efforts, think->get_ref<const std::string&>()) != std::end(efforts);
  if (!think->is_boolean() && !is_effort) {
    throw ApiError::invalid(
        fmt::format("'think' must be true, false, low, medium, high or max, got {}", shown(*think)));
  }
  chat.values = JsonInput::object();
  chat.values["enable_thinking"] = is_effort || think->get<bool>();
  if (is_effort) chat.values["reasoning_effort"] = *think;
}

void read_options(Fields& options, GenerationRequest& request) {
  read_sampling(options, request);
  request.n = 1;
  // -2, like -1, means that only the context limits the length.
  if (const auto limit = options.count("num_predict", -2))
    request.limit = *limit < 0 ? std::nullopt : std::optional<std::size_t>(*limit);
  read_foreign_fields(options);
  for (const std::string_view name : runner_options) options.any(name);
  options.ignore_others();
}

}  // namespace

GenerationRequest read_ollama_request(const JsonInput& body, Api api, const RequestDefaults& defaults) {
  GenerationRequest request = GenerationRequest::of(api, defaults);
  Fields fields(body);
  fields.string("model");  // may be any name
  if (api == Api::ollama_chat) {
    read_ollama_chat(fields, request);
  } else {
    read_ollama_prompt(fields, request);
  }
  read_think(fields, request.chat);
  if (const JsonInput* format = fields.any("format"))
    request.constraint = read_plain_format(*format, "format");
  if (const JsonInput* options = fields.object("options")) {
    Fields inner(*options, "options.");
    read_options(inner, request);
  }
  read_top_logprobs(fields, request);
  request.stream = fields.boolean("stream").value_or(true);
  // Ignored: the model stays loaded, and a prompt that is too long is rejected.
  for (const std::string_view name : {"keep_alive", "truncate", "shift"}) fields.any(name);
  fields.ignore_others();
  return request;
}

}  // namespace spectr::server
