#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/flags/constraint_flags.h"
#include "apps/cli/flags/method_flags.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/prompt_cache.h"
#include "apps/cli/flags/sampling_flags.h"
#include "apps/cli/flags/template_flags.h"
#include "spectr/engine/engine.h"

namespace spectr::cli {

/// What `chat` takes.
struct ConversationFlags {
  ModelFlags model;
  MethodFlags method;
  SamplingFlags sampling;
  std::string system;
  TemplateFlags chat_template;
  ConstraintFlags constraint;
  PromptCache prompt_cache;
  std::vector<std::string> stop_words;
  long predict = -1;
  long seed = -1;
  bool verbose = false;  ///< the seed and the costs that fix the answers are printed
};

/// A conversation: an engine with one slot, which keeps what was said. Answers go to standard output, notices
/// to standard error.
class Conversation {
 public:
  /// Loads the models. Throws Failure.
  explicit Conversation(ConversationFlags flags);

  /// Writes the file of ConversationFlags::prompt_cache.
  void save_prompt() { flags_.prompt_cache.save(*engine_); }

  /// The model and its draft models by the names of their files.
  std::string models() const;

  /// Says something as the user and prints the answer as it comes. An interrupt ends the answer, and not the
  /// conversation. If the context is full, the oldest messages are forgotten, which is printed. False: no
  /// context holds the message; it is left out, which is printed. Throws Failure if there is no answer, with
  /// std::bad_alloc for want of memory. In these three cases the conversation stays as it was.
  bool say(std::string text);

  /// Forgets the last message with its answer; false: there is none.
  bool undo();
  /// Forgets all but the system prompt.
  void reset();

  const std::vector<ChatMessage>& messages() const { return messages_; }
  /// What the last answer took and how full the context is, in lines.
  std::string statistics() const;
  /// The tokens, the speed and the share of drafts of the last answer, in one line. Requires: there is one.
  std::string summary() const;

 private:
  /// What a model is to answer.
  struct Prompt {
    std::vector<ChatMessage> messages;  ///< the conversation, without what had to be forgotten
    std::vector<Token> tokens;
  };

  MarkedText rendered(const std::vector<ChatMessage>& messages) const;
  std::vector<Token> encoded(const std::vector<ChatMessage>& messages) const;
  std::optional<Prompt> with_room(std::vector<ChatMessage> messages) const;
  std::string answer(const Prompt& prompt);
  CompletionResult print(Completion& completion, std::string& text) const;
  std::size_t first_said() const { return flags_.system.empty() ? 0 : 1; }

  ConversationFlags flags_;
  WarpOptions sampling_;
  std::uint64_t seed_ = 0;  // of all answers; which one it is sets them apart
  bool has_colours_;        // standard output
  std::unique_ptr<Engine> engine_;
  std::vector<ChatMessage> messages_;
  std::size_t said_ = 0;  // messages so far, the forgotten ones too
  struct Last {
    std::size_t prompt;  // tokens
    const MethodRule* method;
    CompletionResult result;
  };
  std::optional<Last> last_;  // answer
};

}  // namespace spectr::cli
