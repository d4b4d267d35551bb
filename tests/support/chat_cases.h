#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/chat/chat_template.h"

namespace spectr {

/// The message that an answer stands for.
struct AnswerMessage {
  std::string content, reasoning;
  std::vector<ToolCall> calls;  ///< without ids
};

/// An answer of a model and the expected message.
struct ChatCase {
  std::string template_name;
  std::size_t number = 0;  ///< among the cases of the template
  std::string input;       ///< the text of the answer
  std::vector<Tool> tools = {};
  std::vector<ChatMessage> messages = {};
  bool splits_reasoning = false, thinks = true, continues = false, must_call = false, partial = false;
  bool parallel = true;
  std::string begun = {};  ///< what the prompt has of the answer, as begun_answer() finds it
  AnswerMessage expected = {};
};

/// The properties of a template.
struct TemplateForm {
  std::string name;
  std::string reasoning_mark;  ///< a text in it by which reasoning_form() chooses
  ToolForm tools;

  const ReasoningForm& reasoning() const { return reasoning_form(reasoning_mark); }
  /// Returns it as JSON in one line.
  std::string json() const;
};

/// Derives the properties of a template.
TemplateForm form_of_template(std::string name, std::string_view source, const ChatTemplate& chat_template);

/// The data of tests/data/chat_cases. Forms come by the names of their templates.
std::vector<ChatCase> load_chat_cases();
std::map<std::string, TemplateForm> load_template_forms();

/// Parses the answer in pieces of `piece` bytes, as the server does.
AnswerMessage parse_answer(const ChatCase& chat_case, const TemplateForm& form, std::size_t piece);

/// Returns the prompt of a case.
Result<MarkedText> case_prompt(const ChatCase& chat_case, const ChatTemplate& chat_template);

/// Returns the message in one line: white space around texts and in arguments has no meaning.
std::string shown_message(const AnswerMessage& message);

}  // namespace spectr
