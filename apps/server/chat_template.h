#pragma once

#include <string>

#include "apps/json.h"
#include "spectr/text/jinja/template.h"
#include "spectr/text/vocabulary.h"

namespace spectr::server {

/// A model's chat template, with what it must be told of the model.
class ChatTemplate {
 public:
  /// With `special_in_content` control tokens in what a request says are tokens, too; else they are text, and
  /// nobody can forge a turn. Error: not understood, or it prints nothing of what is said.
  static Result<ChatTemplate> make(std::string_view source, const Vocabulary& vocabulary,
                                   bool special_in_content = false);

  /// What a conversation becomes.
  struct Conversation {
    /// As templates expect them; a content is a text or a list of text parts, whichever the client sent.
    JsonInput messages = JsonInput::array();
    JsonInput values = JsonInput::object();  ///< the other variables
    bool continues_last = false;             ///< the last message is the beginning of the answer
    bool opens_answer = true;                ///< else the prompt ends with the last message
  };

  /// The prompt. What comes from the conversation is quoted in it. Error: what the template raises, or does
  /// wrong.
  Result<MarkedText> render(const Conversation& conversation) const;

 private:
  ChatTemplate(jinja::Template parsed, jinja::Dict own, bool special_in_content)
      : template_(std::move(parsed)), own_(std::move(own)), special_in_content_(special_in_content) {}

  /// Finds out by rendering in which of its two forms a content is printed.
  Result<void> try_contents();
  JsonInput adapted(const JsonInput& message) const;
  Result<MarkedText> run(const JsonInput& messages, const JsonInput& values, bool opens_answer) const;

  jinja::Template template_;
  jinja::Dict own_;  // variables
  bool special_in_content_;
  bool takes_text_ = true;    // contents that are texts
  bool takes_parts_ = false;  // contents that are lists of parts
};

}  // namespace spectr::server
