#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <variant>

namespace spectr::cli {

/// What somebody has typed into a conversation.
struct ChatMessage {
  std::string text;
};
enum class ChatAction { help, file, stats, undo, reset, save, quit };
struct ChatCommand {
  ChatAction action;
  std::string argument;  ///< behind the command's name; empty: none
};
struct ChatMistake {
  std::string text;  ///< what was wrong, a line
};
using ChatInput = std::variant<ChatMessage, ChatCommand, ChatMistake>;

/// Reads the next message or command. A message is a line; a line that ends with a backslash goes on in the
/// next one, what stands between lines of three quotes (""") is one message, line breaks and all, and so is
/// what was pasted into a terminal (PasteMode), with what is typed before and behind it. A line of a slash
/// and a letter is a command, of two slashes a message that begins with one. Empty lines and carriage returns
/// at ends of lines are skipped. None: the input has ended. `shows_prompts`: writes "> " to standard error
/// where a message may begin, and ". " where it goes on.
std::optional<ChatInput> read_chat_input(std::istream& in, bool shows_prompts);

/// All commands, a line each.
std::string chat_help();

}  // namespace spectr::cli
