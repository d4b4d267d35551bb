#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/method_flags.h"
#include "apps/cli/model_flags.h"
#include "apps/cli/sampling_flags.h"
#include "apps/cli/template_flags.h"
#include "apps/json_input.h"
#include "apps/server/slots.h"

namespace spectr::cli {

/// What `chat` takes.
struct ConversationFlags {
  ModelFlags model;
  MethodFlags method;
  SamplingFlags sampling;
  std::string system;
  TemplateFlags chat_template;
  std::vector<std::string> stop_words;
  long predict = -1;
  long seed = -1;
};

/// A conversation: the server's engine with one slot, which remembers what was said. Answers go to standard
/// output, notices to standard error.
class Conversation {
 public:
  /// Loads the models. Throws Failure.
  explicit Conversation(ConversationFlags flags);

  /// Says something as the user, and prints the answer as it comes. An interrupt ends the answer, and not the
  /// conversation. False: no context holds the message; it is left out, and told. Throws Failure.
  bool say(std::string text);

  /// Forgets the last message with its answer; false: there is none.
  bool undo();
  /// Forgets all but the system prompt.
  void reset();

  /// The messages, as the server's API takes them.
  const JsonInput& messages() const { return messages_; }
  /// What the last answer took and how full the context is, in lines.
  std::string statistics() const;

 private:
  using News = std::counting_semaphore<>;  // of an answer

  void add(std::string_view role, std::string text);
  MarkedText rendered() const;
  std::vector<Token> encoded() const;
  std::optional<std::vector<Token>> prompt_with_room();
  bool answer();
  static server::Outcome show(server::Answer& answer, News& news, std::string& text);
  std::size_t first_said() const { return flags_.system.empty() ? 0 : 1; }

  ConversationFlags flags_;
  std::shared_ptr<const Warp> warp_;
  const MethodRule* rule_ = nullptr;
  MethodOptions settings_;
  std::uint64_t seed_ = 0;  // of all answers; which one it is sets them apart
  bool splits_reasoning_ = true;
  server::ModelSet models_;
  std::unique_ptr<server::Slots> slots_;
  JsonInput messages_ = JsonInput::array();
  std::size_t said_ = 0;  // messages, the forgotten ones too
  struct Last {
    std::size_t prompt;  // tokens
    server::Outcome outcome;
  };
  std::optional<Last> last_;  // answer
};

}  // namespace spectr::cli
