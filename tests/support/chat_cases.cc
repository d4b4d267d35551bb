#include "tests/support/chat_cases.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "spectr/text/chat/answer_calls.h"
#include "spectr/text/chat/call_space.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using CaseJson = nlohmann::ordered_json;

CaseJson read_case_file(std::string_view name) {
  std::ifstream file(source_folder() / "tests/data/chat_cases" / name);
  return CaseJson::parse(file);
}

std::vector<ToolCall> calls_of(const CaseJson& message) {
  std::vector<ToolCall> calls;
  for (const CaseJson& call : message.value("tool_calls", CaseJson::array()))
    calls.push_back({call.value("id", ""), call["name"], call["arguments"]});
  return calls;
}

ChatMessage message_of(const CaseJson& json) {
  ChatMessage message = ChatMessage::of(json["role"], json["content"]);
  if (json.contains("reasoning_content")) message.reasoning = json["reasoning_content"];
  if (json.contains("tool_call_id")) message.call_id = json["tool_call_id"];
  if (json.contains("name")) message.name = json["name"];
  message.calls = calls_of(json);
  return message;
}

constexpr const char* kind_names[] = {"json", "named", "tagged", "gemma", "python", "nested"};

struct TextMember {
  const char* name;
  std::string ToolForm::* text;
};
constexpr TextMember text_members[] = {{"key_open", &ToolForm::key_open},
                                       {"key_close", &ToolForm::key_close},
                                       {"value_close", &ToolForm::value_close},
                                       {"lead", &ToolForm::lead},
                                       {"middle", &ToolForm::middle},
                                       {"joint", &ToolForm::joint},
                                       {"tail", &ToolForm::tail},
                                       {"middle_pattern", &ToolForm::middle_pattern},
                                       {"value_lead", &ToolForm::value_lead},
                                       {"value_tail", &ToolForm::value_tail},
                                       {"trigger", &ToolForm::trigger}};

ToolForm tool_form_of_json(const CaseJson& json) {
  ToolForm form;
  const auto kind = std::ranges::find(kind_names, json.at("kind").get<std::string>());
  form.kind = static_cast<ToolForm::Kind>(kind - std::begin(kind_names));
  form.opens = json.at("opens");
  form.closes = json.at("closes");
  for (const TextMember& member : text_members) form.*member.text = json.value(member.name, "");
  form.parallel = json.value("parallel", true);
  form.cdata = json.value("cdata", false);
  return form;
}

}  // namespace

TemplateForm form_of_template(std::string name, std::string_view source, const ChatTemplate& chat_template) {
  constexpr std::string_view marks[] = {"<atem:function_calls>",
                                        "<|start|>assistant",
                                        "<|channel>",
                                        "<|START_THINKING|>",
                                        "[THINK]",
                                        "<seed:think>",
                                        "<mm:think>",
                                        "open_tag('think')",
                                        "[BEGIN FINAL RESPONSE]",
                                        "<response>",
                                        ""};
  const auto* mark =
      std::ranges::find_if(marks, [&](std::string_view text) { return source.contains(text); });
  return {std::move(name), std::string(*mark), chat_template.tool_form()};
}

std::string TemplateForm::json() const {
  CaseJson form = {{"kind", kind_names[static_cast<std::size_t>(tools.kind)]},
                   {"opens", tools.opens},
                   {"closes", tools.closes}};
  for (const TextMember& member : text_members) {
    if (!(tools.*member.text).empty()) form[member.name] = tools.*member.text;
  }
  if (!tools.parallel) form["parallel"] = false;
  if (tools.cdata) form["cdata"] = true;
  return CaseJson{{"template", name}, {"reasoning", reasoning_mark}, {"tools", std::move(form)}}.dump();
}

std::map<std::string, TemplateForm> load_template_forms() {
  std::map<std::string, TemplateForm> forms;
  for (const CaseJson& json : read_case_file("forms.json")) {
    const std::string name = json["template"];
    forms[name] = {name, json["reasoning"], tool_form_of_json(json["tools"])};
  }
  return forms;
}

std::vector<ChatCase> load_chat_cases() {
  const CaseJson file = read_case_file("cases.json");
  std::map<std::string, Tool> tools;
  for (const CaseJson& tool : file["tools"]) {
    CaseJson function = tool;
    function.erase("key");
    const CaseJson definition = {{"type", "function"}, {"function", std::move(function)}};
    tools[tool["key"]] = {tool["name"], definition.dump()};
  }
  std::vector<ChatCase> cases;
  for (const CaseJson& json : file["cases"]) {
    ChatCase one{.template_name = json["template"], .number = json["number"], .input = json["input"]};
    for (const std::string key : json.value("tools", CaseJson::array())) one.tools.push_back(tools.at(key));
    for (const CaseJson& message : json.value("messages", CaseJson::array()))
      one.messages.push_back(message_of(message));
    if (one.messages.empty()) one.messages.push_back(ChatMessage::of("user", "Hey there!"));
    one.splits_reasoning = json.value("reasoning", false);
    one.thinks = json.value("enable_thinking", true);
    one.continues = json.contains("continue");
    one.must_call = json.value("tool_choice", "") == "required";
    one.partial = json.value("partial", false);
    one.parallel = json.value("parallel", true);
    one.begun = json.value("begun", "");
    const CaseJson& expected = json["expect"];
    one.expected = {expected.value("content", ""), expected.value("reasoning_content", ""),
                    calls_of(expected)};
    cases.push_back(std::move(one));
  }
  return cases;
}

AnswerMessage parse_answer(const ChatCase& chat_case, const TemplateForm& form, std::size_t piece) {
  const bool has_tools = !chat_case.tools.empty();
  const auto splitter = ReasoningSplitter::make(
      form.reasoning(), chat_case.begun, {.calls = has_tools, .thoughts = !chat_case.splits_reasoning});
  std::optional<AnswerCalls> calls;
  if (has_tools) {
    calls.emplace(form.tools, std::make_shared<const ToolSet>(chat_case.tools),
                  form.tools.parallel && chat_case.parallel, chat_case.must_call);
  }
  AnswerMessage answer;
  const auto add = [&](AnswerCalls::Parts parts) {
    answer.reasoning += parts.reasoning;
    answer.content += parts.content;
    std::ranges::move(parts.calls, std::back_inserter(answer.calls));
  };
  const auto take = [&](const ReasoningSplitter::Parts& parts) {
    add(calls ? calls->push(parts) : AnswerCalls::Parts{parts.reasoning, parts.content, {}});
  };
  const std::string_view input = chat_case.input;
  for (std::size_t at = 0; at < input.size(); at += piece) take(splitter->push(input.substr(at, piece)));
  take(splitter->finish());
  if (calls) add(calls->finish(!chat_case.partial));
  if (chat_case.continues) {  // a message is expected with its beginning
    const ChatMessage& begun = chat_case.messages.back();
    answer.content.insert(0, begun.text());
    if (chat_case.splits_reasoning) answer.reasoning.insert(0, begun.reasoning.value_or(""));
  }
  return answer;
}

Result<MarkedText> case_prompt(const ChatCase& chat_case, const ChatTemplate& chat_template) {
  return chat_template.render({.messages = chat_case.messages,
                               .continues_last = chat_case.continues,
                               .opens_answer = !chat_case.continues,
                               .tools = chat_case.tools});
}

std::string shown_message(const AnswerMessage& message) {
  CaseJson json = {{"content", without_space(message.content)},
                   {"reasoning", without_space(message.reasoning)}};
  for (const ToolCall& call : message.calls) {
    const auto arguments = nlohmann::json::parse(call.arguments, nullptr, false);
    json["calls"].push_back(
        {{"name", call.name},
         {"arguments", CaseJson(arguments.is_discarded() ? call.arguments : arguments.dump())}});
  }
  return json.dump();
}

}  // namespace spectr
