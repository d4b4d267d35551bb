#pragma once

#include <optional>
#include <string>
#include <variant>

#include "apps/cli/chat/chat_lines.h"

namespace spectr::cli {

/// What somebody has typed into a conversation.
struct TypedMessage {
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
using ChatInput = std::variant<TypedMessage, ChatCommand, ChatMistake>;

/// Reads the next message or command. A message is a line; a line that ends with a backslash continues in the
/// next one, everything between lines of three quotes (""") is one message, and so is what was pasted into a
/// terminal, with what is typed before and after it. A line of a slash and a letter is a command, one of two
/// slashes a message that begins with a slash. Empty lines are skipped, and so is a message that the user
/// gave up. None: the input has ended.
std::optional<ChatInput> read_chat_input(LineSource& lines);

/// All commands, a line each.
std::string chat_help();

}  // namespace spectr::cli
