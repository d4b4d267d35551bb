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

/// The flags of `chat`.
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
  bool verbose = false;  ///< print the seed and the costs that determine the answers
};

/// A conversation with an engine of one slot, which caches its prefix. Answers go to standard output, notices
/// to standard error.
class Conversation {
 public:
  /// Loads the models. Throws Failure.
  explicit Conversation(ConversationFlags flags);

  /// Writes the file of ConversationFlags::prompt_cache, if there is one.
  void save_prompt() { flags_.prompt_cache.save(*engine_); }

  /// Returns the file names of the model and its draft models.
  std::string models() const;

  /// Sends a user message and streams the answer. An interrupt ends the answer only. If the context is full,
  /// the oldest messages are dropped, with a notice. Returns false, with a notice, if the message alone
  /// exceeds the context. Throws Failure if there is no answer, or std::bad_alloc. In these three cases the
  /// conversation is unchanged.
  bool say(std::string text);

  /// Removes the last message and its answer. Returns false if there is none.
  bool undo();
  /// Removes all messages except the system prompt.
  void reset();

  const std::vector<ChatMessage>& messages() const { return messages_; }
  /// Describes the costs of the last answer and the use of the context, in several lines.
  std::string statistics() const;
  /// Summarizes speed and tokens per pass of the last answer in one line. Requires: there is one.
  std::string summary() const;

 private:
  /// The prompt of an answer.
  struct Prompt {
    std::vector<ChatMessage> messages;  ///< without dropped messages
    std::vector<Token> tokens;
  };

  MarkedText rendered(const std::vector<ChatMessage>& messages) const;
  std::vector<Token> encoded(const std::vector<ChatMessage>& messages) const;
  std::optional<Prompt> with_room(std::vector<ChatMessage> messages) const;
  std::string answer(const Prompt& prompt);
  CompletionResult print(Completion& completion, std::string& text) const;
  std::size_t first_message() const { return flags_.system.empty() ? 0 : 1; }

  ConversationFlags flags_;
  WarpOptions sampling_;
  std::uint64_t seed_ = 0;  // common to all answers; first_sample distinguishes them
  bool has_colours_;        // of standard output
  std::unique_ptr<Engine> engine_;
  std::vector<ChatMessage> messages_;
  std::size_t messages_so_far_ = 0;  // including dropped messages
  struct Last {
    std::size_t prompt;  // length in tokens
    const MethodRule* method;
    CompletionResult result;
  };
  std::optional<Last> last_;  // the last answer
};

}  // namespace spectr::cli
