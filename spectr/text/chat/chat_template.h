#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/text/chat/chat_message.h"
#include "spectr/text/chat/tool.h"
#include "spectr/text/chat/tool_form.h"
#include "spectr/text/jinja/template.h"
#include "spectr/text/reasoning.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// Variables that ChatTemplate sets itself; requests and options must not set them.
inline constexpr const char* own_chat_variables[] = {"messages", "add_generation_prompt", "bos_token",
                                                     "eos_token"};

/// Options of rendering.
struct ChatTemplateOptions {
  /// Treats the names of control tokens in messages as tokens. By default they are plain text, so that a
  /// message cannot forge a turn.
  bool special_in_content = false;
  jinja::Dict values = {};  ///< default variables, which a request can override
  /// Default of whether answers begin with reasoning; variables override it. None: as in the template.
  std::optional<bool> thinks = {};
};

/// Support for tools in a template.
struct ToolSupport {
  bool prints_tools = false;    ///< prints the variable `tools`
  bool prints_calls = false;    ///< prints `tool_calls` of messages
  bool prints_results = false;  ///< prints messages of the role "tool"
  bool prints_system = false;   ///< prints messages of the role "system"
  bool text_arguments = false;  ///< the arguments of calls must be a JSON string, not an object
  bool null_content = false;    ///< the content must be none in a message with calls only
  bool short_ids = false;       ///< ids must have nine letters and digits
  ToolForm form = generic_tool_form();
};

/// A model's chat template with the variables that depend on the model. Immutable; thread-safe.
class ChatTemplate {
 public:
  /// Parses a Jinja template. Fails if it is malformed or does not print a user's message.
  static Result<ChatTemplate> make(std::string_view source, const Vocabulary& vocabulary,
                                   ChatTemplateOptions options = {});

  /// The input of a template.
  struct Conversation {
    std::vector<ChatMessage> messages;  ///< never empty
    jinja::Dict values = {};            ///< other variables
    bool continues_last = false;        ///< the last message is the beginning of the answer
    bool opens_answer = true;           ///< the prompt ends with the header of an answer
    std::vector<Tool> tools = {};       ///< tools that the model may call
  };

  /// Renders a prompt in which all text from the conversation is quoted. Reasoning that the template opens is
  /// closed if answers must have none. Tools, calls and results that the template does not print become text
  /// of messages, and messages that it refuses in their place become part of others. Fails with the error
  /// that the template raises.
  Result<MarkedText> render(const Conversation& conversation) const;

  /// True if strings of variables must be marked as quoted.
  bool quotes_content() const { return !options_.special_in_content; }
  /// Returns the syntax of tool calls in answers.
  const ToolForm& tool_form() const { return tools_.form; }
  const ToolSupport& tool_support() const { return tools_; }
  /// True if the template has marks of reasoning.
  bool knows_thoughts() const { return knows_thoughts_; }

 private:
  ChatTemplate(jinja::Template parsed, jinja::Dict own, const ReasoningForm& form,
               ChatTemplateOptions options)
      : template_(std::move(parsed)), own_(std::move(own)), form_(&form), options_(std::move(options)) {}

  Result<void> probe_contents();
  void probe_tools(std::string_view source);
  bool probe_calls(const jinja::Dict& values);
  void probe_order();
  void cut_calls_at_ends(const Vocabulary& vocabulary);
  std::vector<ChatMessage> adapted(const Conversation& conversation) const;
  std::vector<ChatMessage> ordered(std::vector<ChatMessage> messages) const;
  jinja::List value_of(const std::vector<ToolCall>& calls) const;
  jinja::Value value_of(const ChatMessage& message) const;
  Result<MarkedText> continued(std::vector<ChatMessage> messages, const jinja::Dict& values) const;
  bool opens_thoughts(const MarkedText& prompt) const;
  MarkedText without_open_thoughts(const MarkedText& prompt, const ChatMessage& answer) const;
  MarkedText with_thoughts(MarkedText prompt, const std::string& thought) const;
  Result<MarkedText> run(std::span<const ChatMessage> messages, const jinja::Dict& values,
                         bool opens_answer) const;
  void close_thoughts(MarkedText& prompt) const;
  MarkedText quoted(std::string text) const { return MarkedText(std::move(text), quotes_content()); }

  jinja::Template template_;
  jinja::Dict own_;            // variables that depend on the model
  const ReasoningForm* form_;  // the marks around reasoning
  ChatTemplateOptions options_;
  ToolSupport tools_;
  bool takes_text_ = true;       // prints contents that are strings
  bool takes_parts_ = false;     // prints contents that are lists of parts
  bool knows_thoughts_ = false;  // the source has the mark that opens reasoning
  bool takes_thinking_ = false;  // reads reasoning from a member `thinking`
  // Conversations that the template renders without an error; late system messages must be printed.
  bool takes_system_ = true;         // system messages at the beginning
  bool takes_late_system_ = true;    // system messages after others
  bool takes_user_twice_ = true;     // consecutive user messages
  bool takes_thoughts_text_ = true;  // reasoning and content in a message with calls
};

}  // namespace spectr
