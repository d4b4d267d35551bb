#include "apps/server/chat_template.h"

#include <algorithm>
#include <string>
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

/// A word that a text does not contain, which filters of texts leave as it is.
std::string unused_mark(const std::string& text) {
  std::string mark = "~8203";
  for (int i = 0; text.contains(mark); ++i) mark += std::to_string(i);
  return mark + '~';
}

/// Whether an answer that goes on has anything in it.
bool is_begun(const JsonInput& answer) {
  return !text_of_parts(answer["content"]).empty() || !answer.value("reasoning_content", "").empty();
}

constexpr std::string_view white_space = " \t\n\v\f\r";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  return text.substr(0, text.find_last_not_of(white_space) + 1);
}

/// The text up to the mark. White space before it goes if the template has taken the space after it.
MarkedText before_mark(const MarkedText& text, const std::string& mark) {
  const std::string_view bytes = text.bytes();
  const std::size_t at = bytes.rfind(mark);
  std::string_view kept = bytes.substr(0, at);
  const bool keeps_space = bytes.substr(at + mark.size()).starts_with(' ');
  if (!keeps_space) kept = kept.substr(0, kept.find_last_not_of(white_space) + 1);
  return text.part(kept);
}

}  // namespace

Result<ChatTemplate> ChatTemplate::make(std::string_view source, const Vocabulary& vocabulary,
                                        ChatTemplateOptions options) {
  SPECTR_TRY(jinja::Template parsed, jinja::Template::parse(source));
  const auto text = [&](std::optional<Token> token) {
    return MarkedText(token ? vocabulary.text(*token) : "");
  };
  jinja::Dict own;
  own.set("bos_token", text(vocabulary.bos()));
  own.set("eos_token", text(vocabulary.eos()));
  ChatTemplate made(std::move(parsed), std::move(own), reasoning_form(source), std::move(options));
  made.knows_thoughts_ = source.contains(made.form_->open);
  made.takes_thinking_ = source.contains(".thinking");
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
  if (takes_thinking_ && out.contains("reasoning_content")) out["thinking"] = out["reasoning_content"];
  return out;
}

Result<MarkedText> ChatTemplate::run(const JsonInput& messages, const JsonInput& values,
                                     bool opens_answer) const {
  jinja::Dict variables = own_;
  variables.set("add_generation_prompt", opens_answer);
  SPECTR_TRY(jinja::Value said, jinja::from_json(messages, !options_.special_in_content));
  variables.set("messages", std::move(said));
  SPECTR_TRY(const jinja::Value others, jinja::from_json(values, !options_.special_in_content));
  for (const auto& [name, value] : others.dict()->members) variables.set(name, value);
  return template_.render(variables);
}

void ChatTemplate::close_thoughts(MarkedText& prompt) const {
  if (form_->kind != ReasoningForm::Kind::tagged || begun_answer(prompt, *form_) != form_->open) return;
  prompt.append(fmt::format("\n{}\n\n", form_->close));
}

Result<MarkedText> ChatTemplate::render(const Conversation& conversation) const {
  JsonInput values = options_.values;
  values.update(conversation.values);
  constexpr const char* switches[] = {"enable_thinking", "thinking"};  // whichever the template reads
  const bool is_said =
      std::ranges::any_of(switches, [&values](const char* name) { return values.contains(name); });
  const std::optional<bool> thinks = is_said ? std::nullopt : options_.thinks;
  for (const char* const name : switches) {
    if (thinks) values[name] = *thinks;
  }
  JsonInput messages = JsonInput::array();
  for (const JsonInput& message : conversation.messages) messages.push_back(adapted(message));
  bool opens = conversation.opens_answer;
  if (conversation.continues_last) {
    if (is_begun(conversation.messages.back())) return continued(conversation, std::move(messages), values);
    messages.erase(messages.end() - 1);
    opens = true;
  }
  SPECTR_TRY(MarkedText prompt, run(messages, values, opens));
  if (thinks == false && opens) close_thoughts(prompt);
  return prompt;
}

Result<MarkedText> ChatTemplate::continued(const Conversation& conversation, JsonInput messages,
                                           const JsonInput& values) const {
  JsonInput last = conversation.messages.back();
  const std::string said = text_of_parts(last["content"]), thought = last.value("reasoning_content", "");
  messages.erase(messages.end() - 1);
  const std::string mark = unused_mark(conversation.messages.dump() + values.dump());
  std::string& begun = said.empty()                  ? last["reasoning_content"].get_ref<std::string&>()
                       : last["content"].is_string() ? last["content"].get_ref<std::string&>()
                                                     : last["content"].back()["text"].get_ref<std::string&>();
  begun += mark + ' ';
  messages.push_back(adapted(last));
  const auto whole = run(messages, values, false);
  if (whole && whole->bytes().contains(mark)) {
    const MarkedText prompt = before_mark(*whole, mark);
    return said.empty() ? prompt : without_open_thoughts(prompt, conversation);
  }
  messages.erase(messages.end() - 1);
  SPECTR_TRY(MarkedText prompt, run(messages, values, true));
  if (said.empty()) return with_thoughts(prompt, thought);
  return without_open_thoughts(prompt.append(said, !options_.special_in_content), conversation);
}

bool ChatTemplate::opens_thoughts(const MarkedText& prompt) const {
  return form_->kind == ReasoningForm::Kind::tagged && begun_answer(prompt, *form_) == form_->open;
}

MarkedText ChatTemplate::without_open_thoughts(const MarkedText& prompt, const Conversation& answer) const {
  const JsonInput& last = answer.messages.back();
  const std::string said(trimmed(text_of_parts(last["content"])));
  const std::string_view text = prompt.bytes();
  const std::size_t at = text.rfind(said);
  if (said.empty() || at == std::string_view::npos) return prompt;
  MarkedText out = prompt.part(text.substr(0, at));
  if (!opens_thoughts(out)) return prompt;
  out.append(last.value("reasoning_content", ""), !options_.special_in_content).append(form_->close);
  return out.append(prompt, text.substr(at));
}

MarkedText ChatTemplate::with_thoughts(MarkedText prompt, const std::string& thought) const {
  const bool tagged = form_->kind == ReasoningForm::Kind::tagged;
  if (tagged && !opens_thoughts(prompt)) {
    std::string_view text = prompt.bytes();
    text = text.substr(0, text.find_last_not_of(white_space) + 1);
    const bool closed = text.ends_with(form_->close);
    if (closed) text.remove_suffix(form_->close.size());
    if (MarkedText opened = prompt.part(text); closed && opens_thoughts(opened)) {
      prompt = std::move(opened);
    } else if (knows_thoughts_) {
      prompt.append(form_->open);
    }
  }
  return tagged && opens_thoughts(prompt) ? prompt.append(thought, !options_.special_in_content) : prompt;
}

}  // namespace spectr::server
