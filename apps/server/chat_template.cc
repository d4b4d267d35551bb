#include "apps/server/chat_template.h"

#include <utility>

#include "spectr/text/jinja/from_json.h"

namespace spectr::server {
namespace {

/// All parts in one text, each on a line of its own.
std::string text_of_parts(const JsonInput& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (const JsonInput& part : content) {
    if (!text.empty()) text += '\n';
    text += part["text"].get_ref<const std::string&>();
  }
  return text;
}

}  // namespace

Result<ChatTemplate> ChatTemplate::make(std::string_view source, const Vocabulary& vocabulary,
                                        bool special_in_content) {
  SPECTR_TRY(jinja::Template parsed, jinja::Template::parse(source));
  const auto text = [&](std::optional<Token> token) {
    return MarkedText(token ? vocabulary.text(*token) : "");
  };
  jinja::Dict own;
  own.set("bos_token", text(vocabulary.bos()));
  own.set("eos_token", text(vocabulary.eos()));
  ChatTemplate made(std::move(parsed), std::move(own), special_in_content);
  SPECTR_TRY_VOID(made.try_contents());
  return made;
}

Result<void> ChatTemplate::try_contents() {
  const std::string said = "xylophone";
  const JsonInput part = {{"type", "text"}, {"text", said}};
  const auto rendered = [&](const JsonInput& content) {
    const JsonInput message = {{"role", "user"}, {"content", content}};
    return run(JsonInput::array({message}), JsonInput::object(), true);
  };
  const auto as_text = rendered(said), as_parts = rendered(JsonInput::array({part}));
  const bool prints_text = as_text && as_text->bytes().contains(said);
  const bool prints_parts = as_parts && as_parts->bytes().contains(said);
  if (as_text && as_parts && !prints_text && !prints_parts)
    return error("chat template: it prints nothing of what a user says");
  // A list that is printed as a whole differs from the text.
  takes_parts_ = prints_parts && (!prints_text || as_parts->bytes() == as_text->bytes());
  takes_text_ = prints_text || !takes_parts_;
  return {};
}

JsonInput ChatTemplate::adapted(const JsonInput& message) const {
  JsonInput out = message;
  JsonInput& content = out["content"];
  if (content.is_array() && !takes_parts_) {
    content = text_of_parts(content);
  } else if (content.is_string() && !takes_text_) {
    content = JsonInput::array({{{"type", "text"}, {"text", content}}});
  }
  return out;
}

Result<MarkedText> ChatTemplate::run(const JsonInput& messages, const JsonInput& values,
                                     bool opens_answer) const {
  jinja::Dict variables = own_;
  variables.set("add_generation_prompt", opens_answer);
  SPECTR_TRY(jinja::Value said, jinja::from_json(messages, !special_in_content_));
  variables.set("messages", std::move(said));
  SPECTR_TRY(const jinja::Value others, jinja::from_json(values, !special_in_content_));
  for (const auto& [name, value] : others.dict()->members) variables.set(name, value);
  return template_.render(variables);
}

Result<MarkedText> ChatTemplate::render(const Conversation& conversation) const {
  JsonInput messages = JsonInput::array();
  for (const JsonInput& message : conversation.messages) messages.push_back(adapted(message));
  if (!conversation.continues_last) return run(messages, conversation.values, conversation.opens_answer);
  messages.erase(messages.end() - 1);
  SPECTR_TRY(MarkedText prompt, run(messages, conversation.values, true));
  return prompt.append(text_of_parts(conversation.messages.back()["content"]), !special_in_content_);
}

}  // namespace spectr::server
