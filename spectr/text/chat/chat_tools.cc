// Determines by rendering how chat templates support tools, and provides fallbacks if they do not.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "spectr/text/chat/chat_template.h"
#include "spectr/text/chat/tool_values.h"

namespace spectr {
namespace {

constexpr const char* probe_definition =
    R"({"type": "function", "function": {"name": "probe_tool", "description": "A tool.", "parameters":)"
    R"( {"type": "object", "properties": {"first_key": {"type": "string", "description": "A key."}}, "required":)"
    R"( ["first_key"]}}})";
constexpr std::string_view probe_question = "xylophone", probe_answer = "quartz", probe_result = "zinc";
constexpr std::string_view kimi_calls = "open_tag('call'";  // Kimi K3 writes its marks by macros
constexpr std::string_view long_id = "call_0123456789abcdef";

ChatMessage probe_message(std::string role, std::string_view text) {
  return ChatMessage::of(std::move(role), std::string(text));
}

/// True if a template has printed the arguments of the probe as JSON or in tags, but neither as a Python
/// dictionary nor as a string within JSON.
bool prints_arguments(std::string_view text) {
  const std::string key(ProbeCall::keys[0]);
  return text.contains(key) && text.contains(ProbeCall::values[0]) && !text.contains('\'' + key) &&
         !text.contains("\\\"" + key);
}

/// Appends a user's message, merged into the last message if that is the user's, too.
void add_user_text(std::vector<ChatMessage>& messages, std::string text) {
  if (messages.empty() || messages.back().role != "user") {
    messages.push_back(ChatMessage::of("user", std::move(text)));
  } else {
    messages.back().parts.back() += "\n\n" + text;
  }
}

/// Prepends a text to the first message of that role. If there is none, inserts a message at the front.
void put_first(std::vector<ChatMessage>& messages, std::string_view role, std::string text) {
  const auto first = std::ranges::find(messages, role, &ChatMessage::role);
  if (first == messages.end()) {
    messages.insert(messages.begin(), ChatMessage::of(std::string(role), std::move(text)));
  } else if (first->parts.empty()) {
    first->parts.push_back(std::move(text));
  } else {
    first->parts.front() = std::move(text) + "\n\n" + first->parts.front();
  }
}

}  // namespace

jinja::List ChatTemplate::value_of(const std::vector<ToolCall>& calls) const {
  jinja::List list;
  for (const ToolCall& call : calls) {
    jinja::Dict function, member;
    const auto add = [&](jinja::Dict& dict, const char* name, jinja::Value value) {
      dict.members.emplace_back(quoted(name), std::move(value));
    };
    add(function, "name", quoted(call.name));
    add(function, "arguments",
        tools_.text_arguments ? quoted(call.arguments) : json_value(call.arguments, quotes_content()));
    add(member, "id", quoted(call.id));
    add(member, "type", quoted("function"));
    add(member, "function", std::move(function));
    list.emplace_back(std::move(member));
  }
  return list;
}

/// Determines the form of calls from the template's output for an assistant's turn with one call, with two,
/// and with text. `values` has the arguments in the form that the template is known to print.
bool ChatTemplate::probe_calls(const jinja::Dict& values) {
  std::vector<ChatMessage> messages = {probe_message("user", probe_question),
                                       probe_message("assistant", probe_answer)};
  const auto said = run(messages, values, false);
  if (!said) return false;
  std::vector<ToolCall>& calls = messages.back().calls;
  messages.back().parts = {""};
  const std::string arguments = ProbeCall::arguments();
  calls = {{std::string(ProbeCall::ids[0]), std::string(ProbeCall::name), arguments}};
  const auto one = run(messages, values, false);
  if (!one) return false;
  const auto without_thoughts = [&](const MarkedText& rendered) {
    const std::string_view call = difference(rendered.bytes(), said->bytes());
    const std::size_t close = form_->close.empty() ? std::string_view::npos : call.find(form_->close);
    return close == std::string_view::npos ? call : call.substr(close + form_->close.size());
  };
  const std::string_view call = without_thoughts(*one);
  if (!prints_arguments(call)) return false;
  calls.push_back({std::string(ProbeCall::ids[1]), std::string(ProbeCall::other_name), arguments});
  const auto two = run(messages, values, false);
  auto form = tool_form_of(call, two ? without_thoughts(*two) : std::string_view());
  if (!form) return false;
  tools_.form = *std::move(form);
  return true;
}

/// Truncates the end of calls at a token that ends the answer. If such a token separates calls, an answer has
/// only one call.
void ChatTemplate::cut_calls_at_ends(const Vocabulary& vocabulary) {
  ToolForm& form = tools_.form;
  for (const Token end : vocabulary.ends()) {
    const std::string& text = vocabulary.text(end);
    if (text.empty()) continue;
    form.tail.resize(std::min(form.tail.find(text), form.tail.size()));
    if (!form.joint.contains(text)) continue;
    form.joint.clear();
    form.parallel = false;
  }
}

void ChatTemplate::probe_tools(std::string_view source) {
  const auto prints = [&](const std::vector<ChatMessage>& messages, const jinja::Dict& values,
                          std::string_view text) {
    const auto rendered = run(messages, values, true);
    return rendered && rendered->bytes().contains(text);
  };
  const ChatMessage asked = probe_message("user", probe_question);
  jinja::Dict values;
  values.set("tools", tools_value({{std::string(ProbeCall::name), probe_definition}}, false));
  tools_.prints_tools = prints({asked}, values, ProbeCall::name);
  if (!tools_.prints_tools) values = {};
  tools_.prints_system = prints({probe_message("system", probe_result), asked}, {}, probe_result);
  for (const bool text : {false, true}) {
    for (const bool null : {false, true}) {
      tools_.text_arguments = text;
      tools_.null_content = null;
      tools_.prints_calls = tools_.prints_calls || probe_calls(values);
      if (tools_.prints_calls) break;
    }
    if (tools_.prints_calls) break;
  }
  if (!tools_.prints_calls) {
    tools_.form = tools_.prints_tools ? known_tool_form(source) : generic_tool_form();
    tools_.null_content = false;
  }
  if (form_->kind == ReasoningForm::Kind::harmony && tools_.prints_tools) {
    const bool parallel = tools_.prints_calls && tools_.form.parallel;
    tools_.form = harmony_tool_form(source);
    tools_.form.parallel = parallel;
  }
  if (source.contains(kimi_calls)) tools_.form = known_tool_form(source);
  tools_.form.cdata = source.contains("<![CDATA[");
  constexpr std::string_view python = "<|python_tag|>";  // Llama 3 may write it before calls
  if (source.contains(python)) tools_.form.opens.emplace_back(python);

  const auto prints_result = [&](std::string_view id) {
    ChatMessage called = probe_message("assistant", tools_.prints_calls ? "" : probe_answer);
    if (tools_.prints_calls)
      called.calls = {{std::string(id), std::string(ProbeCall::name), ProbeCall::arguments()}};
    ChatMessage told = probe_message("tool", probe_result);
    told.name = ProbeCall::name;
    told.call_id = id;
    return prints({asked, called, told}, values, probe_result);
  };
  const bool with_long_id = prints_result(long_id);
  tools_.prints_results = with_long_id || prints_result(ProbeCall::ids[0]);
  tools_.short_ids = tools_.prints_results && !with_long_id;
}

/// Returns the messages in the form that the template prints.
std::vector<ChatMessage> ChatTemplate::adapted(const Conversation& conversation) const {
  std::vector<ChatMessage> messages;
  std::map<std::string, std::string> called;  // tool names by call id
  for (ChatMessage message : conversation.messages) {
    for (ToolCall& call : message.calls) {
      called[call.id] = call.name;
      if (tools_.short_ids) call.id = short_id(call.id);
    }
    if (!message.calls.empty() && !tools_.prints_calls) {
      if (message.text().empty()) message.parts.clear();
      message.parts.push_back(text_of_calls(message.calls, tools_.form));
      message.calls.clear();
    }
    if (message.role == "tool") {
      const auto caller = called.find(message.call_id.value_or(""));
      if (!message.name && caller != called.end()) message.name = caller->second;
      if (!tools_.prints_results) {
        add_user_text(messages,
                      fmt::format("Result of {}:\n{}", message.name.value_or("the call"), message.text()));
        continue;
      }
      if (message.call_id && tools_.short_ids) message.call_id = short_id(*message.call_id);
    }
    const bool follows_result = message.role == "user" && !messages.empty() &&
                                messages.back().role == "user" && !called.empty() && !tools_.prints_results;
    if (follows_result) {
      add_user_text(messages, message.text());
    } else {
      messages.push_back(std::move(message));
    }
  }
  messages = ordered(std::move(messages));
  if (!conversation.tools.empty() && !tools_.prints_tools)
    put_first(messages, tools_.prints_system ? "system" : "user", tool_instructions(conversation.tools));
  return messages;
}

}  // namespace spectr
