#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "apps/cli/chat/chat_input.h"
#include "apps/cli/chat/conversation.h"
#include "apps/cli/chat/line_editor.h"
#include "apps/cli/chat/terminal_input.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/spec_type.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/terminal_style.h"
#include "apps/support/json.h"
#include "spectr/base/names.h"

namespace spectr::cli {
namespace {

struct ChatFlags {
  ConversationFlags conversation;
  TextInput message;  ///< the only message, if given
};

/// A read-eval-print loop for messages and commands.
class ChatRepl {
 public:
  ChatRepl(Conversation& conversation, LineSource& lines, bool is_terminal)
      : conversation_(conversation),
        lines_(lines),
        is_terminal_(is_terminal),
        dim_(style::dim, has_colours(StandardStream::error)) {}

  void run() {
    if (is_terminal_) note(conversation_.models() + "\n/help lists commands, Ctrl-D ends\n");
    while (!is_over_) {
      auto input = read_chat_input(lines_);
      if (!input) return;
      std::visit([this](auto& what) { this->take(what); }, *input);
    }
  }

 private:
  void take(const TypedMessage& message) {
    const bool is_over = attempt([&] {
      if (conversation_.say(files_ + message.text) && is_terminal_) note(conversation_.summary() + "\n");
    });
    if (is_over) files_.clear();
  }
  void take(const ChatCommand& command) {
    attempt([&] { handle(command); });
  }
  static void take(const ChatMistake& mistake) { fmt::print(stderr, "{}\n", mistake.text); }

  /// Runs `work`. Returns false if it fails; errors are printed and do not end the conversation.
  template <class Work>
  static bool attempt(Work work) {
    try {
      work();
      return true;
    } catch (const Failure& failure) {
      fmt::print(stderr, "{}\n", failure.what());
    } catch (const std::bad_alloc&) {
      fmt::print(stderr, "out of memory\n");
    }
    return false;
  }

  /// Prints a notice, which is not part of the conversation.
  void note(std::string_view text) const { fmt::print(stderr, "{}{}{}", dim_.begin, text, dim_.end); }

  void handle(const ChatCommand& command) {
    switch (command.action) {
      case ChatAction::help:
        fmt::print(stderr, "{}", chat_help());
        break;
      case ChatAction::file:
        add_file(command.argument);
        break;
      case ChatAction::stats:
        note(conversation_.statistics());
        break;
      case ChatAction::undo:
        fmt::print(stderr, "{}\n",
                   conversation_.undo() ? "the last message and its answer are forgotten"
                                        : "nothing was said that could be forgotten");
        break;
      case ChatAction::reset:
        files_.clear();
        conversation_.reset();
        fmt::print(stderr, "all that was said is forgotten\n");
        break;
      case ChatAction::save:
        save(command.argument);
        break;
      case ChatAction::quit:
        is_over_ = true;
        break;
    }
  }

  void add_file(const std::string& path) {
    const std::string text = read_file(path);
    files_ += text;
    if (!files_.empty()) files_ += files_.ends_with('\n') ? "\n" : "\n\n";
    fmt::print(stderr, "{}: {} bytes go before the next message\n", escape(path), text.size());
  }

  void save(const std::string& path) const {
    Json messages = Json::array();
    for (const ChatMessage& message : conversation_.messages())
      messages.push_back({{"role", message.role}, {"content", message.text()}});
    std::ofstream file(path, std::ios::binary);
    file << messages.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    if (!file.flush()) throw Failure(Status::failed, fmt::format("{}: cannot be written", escape(path)));
    fmt::print(stderr, "{}: {} messages\n", escape(path), messages.size());
  }

  Conversation& conversation_;
  LineSource& lines_;
  bool is_terminal_;
  Styled dim_;
  std::string files_;  // prepended to the next message
  bool is_over_ = false;
};

void converse(const ChatFlags& flags) {
  const bool is_one_shot = flags.message.text || flags.message.file;
  std::string message;
  if (is_one_shot) message = flags.message.read_prompt();  // reported before models are loaded
  const auto terminal = is_one_shot ? nullptr : TerminalInput::open();
  Conversation conversation(flags.conversation);
  if (is_one_shot) {
    if (!conversation.say(std::move(message))) throw Failure(Status::usage, "there is no room for an answer");
  } else if (terminal) {
    LineEditor lines(*terminal, ChatHistory(ChatHistory::default_path()));
    ChatRepl(conversation, lines, true).run();
  } else {
    StreamLines lines(std::cin);
    ChatRepl(conversation, lines, false).run();
    check_standard_input();
  }
  conversation.save_prompt();
}

}  // namespace

void add_chat(CLI::App& app) {
  auto flags = std::make_shared<ChatFlags>();
  CLI::App& command = *app.add_subcommand("chat", "Talk with a model: a line of yours, an answer of its own");
  ConversationFlags& talk = flags->conversation;
  flags->message.add(command, "answer this message and end; without it, a conversation");
  talk.model.add_model(command, false);
  talk.model.add_drafts(command);
  talk.model.add_threads(command);
  talk.model.add_cache_types(command);
  talk.model.add_context(command);
  talk.prompt_cache.add(command);
  command.add_option("--system-prompt", talk.system, "-sys TEXT: what the model is told first");
  talk.chat_template.add(command);
  talk.constraint.add(command);
  repeatable(command.add_option("-r,--reverse-prompt", talk.stop_words,
                                "end an answer before this word; repeatable"));
  command.add_option("-n,--predict,--n-predict", talk.predict, "max tokens of an answer; -1: no limit")
      ->envname("LLAMA_ARG_N_PREDICT")
      ->transform(whole(-1))
      ->capture_default_str();
  command.add_option("-s,--seed", talk.seed, "same seed, same answers; -1: random")
      ->transform(whole(-1))
      ->capture_default_str();
  command.add_flag("--verbose", talk.verbose, "print the seed, and the hash of the costs that auto goes by");
  talk.method.add(command);
  talk.method.add_cost_file(command);
  talk.model.add_suffix_corpus(command);
  add_spec_type(command, talk.model.spec_types);
  talk.sampling.add(command);
  talk.sampling.add_samplers(command);
  command.callback([flags, &command] {
    check_variables(command);
    converse(*flags);
  });
}

}  // namespace spectr::cli
