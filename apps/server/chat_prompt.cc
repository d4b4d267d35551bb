#include "apps/server/chat_prompt.h"

#include "apps/json_input.h"
#include "apps/server/api_error.h"
#include "apps/server/fields.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_messages = 4096;
constexpr std::string_view roles[] = {"system", "developer", "user", "assistant"};

/// The text of a message: a string, or a list of parts {"type": "text", "text"}.
std::string content_of(const JsonInput* content, const std::string& where) {
  if (content == nullptr) throw ApiError::invalid(fmt::format("'{}content' is missing", where));
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) {
    throw ApiError::invalid(
        fmt::format("'{}content' must be a string or a list of parts, got {}", where, shown(*content)));
  }
  std::string text;
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
    if (!text.empty()) text += '\n';
    text += fields.string("text").value_or("");
    fields.any("cache_control");  // which prompts others shall remember
    fields.refuse_others();
  }
  return text;
}

JsonInput read_message(const JsonInput& message, std::size_t i) {
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
  JsonInput out = {{"role", role}};
  for (std::string_view name : {"name", "reasoning_content"}) {
    if (const auto text = fields.string(name)) out[name] = *text;
  }
  static const Neutral switches[] = {{"tool_calls", {JsonInput::array()}},
                                     {"annotations", {JsonInput::array()}},
                                     {"function_call", {}},
                                     {"refusal", {""}},
                                     {"audio", {}}};
  fields.neutral(switches);  // before the content, which is not there where tools are called
  out["content"] = content_of(fields.any("content"), where);
  fields.refuse_others();
  return out;
}

}  // namespace

std::string chat_prompt(const JsonInput& messages, const JsonInput& values, const Vocabulary& vocabulary,
                        const Result<jinja::Template>& chat_template) {
  if (!messages.is_array() || messages.empty())
    throw ApiError::invalid("'messages' must be a list of messages");
  if (messages.size() > max_messages) {
    throw ApiError::invalid(
        fmt::format("'messages' may have {} messages, got {}", max_messages, messages.size()));
  }
  JsonInput variables = values.is_object() ? values : JsonInput::object();
  for (const char* name : {"messages", "add_generation_prompt", "bos_token", "eos_token"}) {
    if (variables.contains(name)) {
      throw ApiError::invalid(
          fmt::format("'chat_template_kwargs.{}' is not supported: the server sets it", name));
    }
  }
  variables["messages"] = JsonInput::array();
  for (std::size_t i = 0; i < messages.size(); ++i)
    variables["messages"].push_back(read_message(messages[i], i));
  variables["add_generation_prompt"] = true;
  variables["bos_token"] = vocabulary.bos() ? vocabulary.text(*vocabulary.bos()) : "";
  variables["eos_token"] = vocabulary.eos() ? vocabulary.text(*vocabulary.eos()) : "";
  if (!chat_template) throw ApiError::invalid(chat_template.error().message);
  return valid(chat_template->render(variables));
}

std::vector<Token> encode_chat(const std::string& text, const Tokenizer& tokenizer) {
  const auto bos = tokenizer.vocabulary().bos();
  const bool has_bos = bos && text.starts_with(tokenizer.vocabulary().text(*bos));
  return tokenizer.encode(text, {.add_bos = !has_bos, .parse_special = true});
}

}  // namespace spectr::server
