#include "spectr/text/chat/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spectr/text/chat/tool_values.h"

namespace spectr {
namespace {

/// Returns a word that `text` does not contain and that string filters leave unchanged.
std::string unused_mark(const std::string& text) {
  std::string mark = "~8203";
  for (int i = 0; text.contains(mark); ++i) mark += std::to_string(i);
  return mark + '~';
}

constexpr std::string_view white_space = " \t\n\v\f\r";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  return text.substr(0, text.find_last_not_of(white_space) + 1);
}

/// Returns the text before the mark. White space before the mark is removed if the template has removed the
/// space after it.
MarkedText before_mark(const MarkedText& text, const std::string& mark) {
  const std::string_view bytes = text.bytes();
  const std::size_t at = bytes.rfind(mark);
  std::string_view kept = bytes.substr(0, at);
  const bool keeps_space = bytes.substr(at + mark.size()).starts_with(' ');
  if (!keeps_space) kept = kept.substr(0, kept.find_last_not_of(white_space) + 1);
  return text.part(kept);
}

/// Returns all characters of a conversation, in one string.
std::string all_text(std::span<const ChatMessage> messages, const jinja::Dict& values) {
  std::string all = jinja::Value(values).json().bytes();
  for (const ChatMessage& message : messages)
    all += message.role + message.name.value_or("") + message.reasoning.value_or("") + message.text();
  for (const ChatMessage& message : messages) {
    for (const ToolCall& call : message.calls) all += call.name + call.arguments;
  }
  return all;
}

}  // namespace

std::string ChatMessage::text() const {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += '\n';
    text += part;
  }
  return text;
}

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
  made.knows_thoughts_ = mentions_reasoning(source);
  made.takes_thinking_ = source.contains(".thinking");
  SPECTR_TRY_VOID(made.probe_contents());
  made.probe_tools(source);
  made.probe_order();
  made.cut_calls_at_ends(vocabulary);
  return made;
}

/// Determines by rendering whether the template prints contents that are strings or lists of parts.
Result<void> ChatTemplate::probe_contents() {
  const std::string said = "xylophone";
  const auto rendered = [&](bool as_list) {
    takes_parts_ = takes_text_ = true;  // pass contents unchanged
    const ChatMessage message{"user", {said}, as_list};
    return run({&message, 1}, {}, true);
  };
  const auto as_text = rendered(false), as_parts = rendered(true);
  const bool prints_text = as_text && as_text->bytes().contains(said);
  const bool prints_parts = as_parts && as_parts->bytes().contains(said);
  if (as_text && as_parts && !prints_text && !prints_parts)
    return error("chat template: it prints nothing of what a user says");
  // A list that is printed as a whole differs from the string.
  takes_parts_ = prints_parts && (!prints_text || as_parts->bytes() == as_text->bytes());
  takes_text_ = prints_text || !takes_parts_;
  return {};
}

/// Converts a message to a template value, with its content in a form that the template prints.
jinja::Value ChatTemplate::value_of(const ChatMessage& message) const {
  jinja::Dict value;
  const auto add = [&](const char* name, jinja::Value member) {
    value.members.emplace_back(quoted(name), std::move(member));
  };
  add("role", quoted(message.role));
  if (message.name) add("name", quoted(*message.name));
  if (message.reasoning) add("reasoning_content", quoted(*message.reasoning));
  if (message.call_id) add("tool_call_id", quoted(*message.call_id));
  if (!message.calls.empty() && tools_.null_content && message.text().empty()) {
    add("content", jinja::None{});
  } else if (message.is_list ? !takes_parts_ : takes_text_) {
    add("content", quoted(message.text()));
  } else {
    jinja::List parts;
    for (const std::string& text : message.parts) {
      jinja::Dict part;
      part.members.emplace_back(quoted("type"), quoted("text"));
      part.members.emplace_back(quoted("text"), quoted(text));
      parts.emplace_back(std::move(part));
    }
    add("content", std::move(parts));
  }
  if (takes_thinking_ && message.reasoning) add("thinking", quoted(*message.reasoning));
  if (!message.calls.empty()) add("tool_calls", value_of(message.calls));
  return value;
}

Result<MarkedText> ChatTemplate::run(std::span<const ChatMessage> messages, const jinja::Dict& values,
                                     bool opens_answer) const {
  jinja::List said;
  for (const ChatMessage& message : messages) said.push_back(value_of(message));
  jinja::Dict variables = own_;
  variables.set("add_generation_prompt", opens_answer);
  variables.set("messages", std::move(said));
  for (const auto& [name, value] : values.members) variables.set(name, value);
  return template_.render(variables);
}

bool ChatTemplate::opens_thoughts(const MarkedText& prompt) const {
  return form_->kind == ReasoningForm::Kind::tagged && begun_answer(prompt, *form_) == form_->open;
}

void ChatTemplate::close_thoughts(MarkedText& prompt) const {
  if (opens_thoughts(prompt)) prompt.append(fmt::format("\n{}\n\n", form_->close));
}

Result<MarkedText> ChatTemplate::render(const Conversation& conversation) const {
  jinja::Dict values = options_.values;
  for (const auto& [name, value] : conversation.values.members) values.set(name, value);
  constexpr const char* switches[] = {"enable_thinking", "thinking"};  // the template reads either
  const bool is_said = std::ranges::any_of(
      switches, [&values](std::string_view name) { return values.find(name) != nullptr; });
  const std::optional<bool> thinks = is_said ? std::nullopt : options_.thinks;
  for (const char* const name : switches) {
    if (thinks) values.set(name, *thinks);
  }
  if (!conversation.tools.empty() && tools_.prints_tools)
    values.set("tools", tools_value(conversation.tools, quotes_content()));
  const std::vector<ChatMessage> all = adapted(conversation);
  std::span<const ChatMessage> messages = all;
  bool opens = conversation.opens_answer;
  if (conversation.continues_last) {
    const ChatMessage& answer = messages.back();
    if (!answer.text().empty() || !answer.reasoning.value_or("").empty()) return continued(all, values);
    messages = messages.first(messages.size() - 1);
    opens = true;
  }
  SPECTR_TRY(MarkedText prompt, run(messages, values, opens));
  if (thinks == false && opens) close_thoughts(prompt);
  return prompt;
}

/// Renders a prompt whose last message is the beginning of the answer. The template renders it as an answer,
/// which is cut after its content, or after its reasoning if it has no content yet. If the template does not
/// print the message, its text is appended to the header of an answer.
Result<MarkedText> ChatTemplate::continued(std::vector<ChatMessage> messages,
                                           const jinja::Dict& values) const {
  const ChatMessage answer = messages.back();
  const std::string said = answer.text();
  const std::string mark = unused_mark(all_text(messages, values));
  if (said.empty()) {
    messages.back().reasoning = answer.reasoning.value_or("") + mark + ' ';
  } else {
    messages.back().parts.back() += mark + ' ';
  }
  const auto whole = run(messages, values, false);
  if (whole && whole->bytes().contains(mark)) {
    MarkedText prompt = before_mark(*whole, mark);
    if (!said.empty()) return without_open_thoughts(prompt, answer);
    // Thoughts that the template prints without their mark (Apriel 1.6) are put after the header of an
    // answer.
    if (form_->kind != ReasoningForm::Kind::tagged || !knows_thoughts_ ||
        begun_answer(prompt, *form_).starts_with(form_->open))
      return prompt;
  }
  messages.pop_back();
  SPECTR_TRY(MarkedText prompt, run(messages, values, true));
  if (said.empty()) return with_thoughts(prompt, answer.reasoning.value_or(""));
  return without_open_thoughts(prompt.append(said, quotes_content()), answer);
}

/// Closes reasoning that is open before the text of the answer at the end of the prompt.
MarkedText ChatTemplate::without_open_thoughts(const MarkedText& prompt, const ChatMessage& answer) const {
  const std::string said(trimmed(answer.text()));
  const std::string_view text = prompt.bytes();
  const std::size_t at = text.rfind(said);
  if (said.empty() || at == std::string_view::npos) return prompt;
  MarkedText out = prompt.part(text.substr(0, at));
  if (!opens_thoughts(out)) return prompt;
  out.append(answer.reasoning.value_or(""), quotes_content()).append(form_->close);
  return out.append(prompt, text.substr(at));
}

/// Appends the beginning of the reasoning to a prompt that ends with the header of an answer.
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
  return tagged && opens_thoughts(prompt) ? prompt.append(thought, quotes_content()) : prompt;
}

}  // namespace spectr
