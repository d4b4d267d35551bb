#pragma once

#include <optional>
#include <string>
#include <variant>

#include "apps/cli/chat/chat_lines.h"

namespace spectr::cli {

/// A message that the user has typed.
struct TypedMessage {
  std::string text;
};
enum class ChatAction { help, file, stats, undo, reset, save, quit };
struct ChatCommand {
  ChatAction action;
  std::string argument;  ///< after the command's name; empty: none
};
struct ChatMistake {
  std::string text;  ///< one-line error message
};
using ChatInput = std::variant<TypedMessage, ChatCommand, ChatMistake>;

/// Reads the next message or command. A message is one line; a backslash at the end continues it in
/// the next. Text between lines of three quotes (""") is one message, and so is a paste in a terminal
/// with what is typed around it. A line of a slash and a letter is a command; two slashes begin a
/// message with a slash. Empty lines and cancelled messages are skipped. Returns nothing at the end
/// of the input.
std::optional<ChatInput> read_chat_input(LineSource& lines);

/// Returns a description of all commands, one per line.
std::string chat_help();

}  // namespace spectr::cli
