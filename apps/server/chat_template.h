#pragma once

#include <optional>
#include <string>

#include "apps/json.h"
#include "spectr/text/jinja/template.h"
#include "spectr/text/reasoning.h"
#include "spectr/text/vocabulary.h"

namespace spectr::server {

/// How conversations are rendered.
struct ChatTemplateOptions {
  /// Control tokens in what a request says are tokens, too. Otherwise they are text, and nobody can forge a
  /// turn.
  bool special_in_content = false;
  JsonInput values = JsonInput::object();  ///< variables, unless a request sets them
  /// Whether answers begin with thoughts, unless a variable says so; none: as the template does.
  std::optional<bool> thinks = {};
};

/// A model's chat template, with what it must be told of the model.
class ChatTemplate {
 public:
  /// Error: not understood, or it prints nothing of what is said.
  static Result<ChatTemplate> make(std::string_view source, const Vocabulary& vocabulary,
                                   ChatTemplateOptions options = {});

  /// What a conversation becomes.
  struct Conversation {
    /// As templates expect them; a content is a text or a list of text parts, whichever the client sent.
    JsonInput messages = JsonInput::array();
    JsonInput values = JsonInput::object();  ///< the other variables
    bool continues_last = false;             ///< the last message is the beginning of the answer
    bool opens_answer = true;                ///< else the prompt ends with the last message
  };

  /// The prompt. What comes from the conversation is quoted in it. Thoughts that the template opens are
  /// closed if answers shall have none. Error: what the template raises, or does wrong.
  Result<MarkedText> render(const Conversation& conversation) const;

 private:
  ChatTemplate(jinja::Template parsed, jinja::Dict own, const ReasoningForm& form,
               ChatTemplateOptions options)
      : template_(std::move(parsed)), own_(std::move(own)), form_(&form), options_(std::move(options)) {}

  /// Finds out by rendering in which of its two forms a content is printed.
  Result<void> try_contents();
  JsonInput adapted(const JsonInput& message) const;
  /// The prompt of a conversation whose last message is the beginning of the answer: as the template renders
  /// an answer, cut after what is said, or after what is thought where nothing is said yet. A template that
  /// does not print the message gets its text after the head of an answer.
  Result<MarkedText> continued(const Conversation& conversation, JsonInput messages,
                               const JsonInput& values) const;
  /// Whether a prompt ends with the mark that opens thoughts.
  bool opens_thoughts(const MarkedText& prompt) const;
  /// The prompt with thoughts closed that are open before the text of the answer at its end.
  MarkedText without_open_thoughts(const MarkedText& prompt, const Conversation& answer) const;
  /// A prompt that ends with the head of an answer, and the beginning of its thoughts.
  MarkedText with_thoughts(MarkedText prompt, const std::string& thought) const;
  Result<MarkedText> run(const JsonInput& messages, const JsonInput& values, bool opens_answer) const;
  void close_thoughts(MarkedText& prompt) const;

  jinja::Template template_;
  jinja::Dict own_;            // variables
  const ReasoningForm* form_;  // the marks around thoughts
  ChatTemplateOptions options_;
  bool takes_text_ = true;       // contents that are texts
  bool takes_parts_ = false;     // contents that are lists of parts
  bool knows_thoughts_ = false;  // the source has the mark that opens thoughts
  bool takes_thinking_ = false;  // thoughts in a member `thinking`
};

}  // namespace spectr::server
