#include "apps/cli/chat/chat_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <expected>
#include <string_view>
#include <utility>

#include "spectr/base/names.h"

namespace spectr::cli {
namespace {

constexpr std::string_view fence = "\"\"\"", blanks = " \t";

enum class Argument { none, required };

struct CommandRule {
  std::string_view name;
  ChatAction action;
  Argument argument;
  std::string_view usage, help;
};

constexpr std::array rules = {
    CommandRule{"help", ChatAction::help, Argument::none, "/help", "these lines"},
    CommandRule{"file", ChatAction::file, Argument::required, "/file PATH",
                "put a file before the next message; several may follow each other"},
    CommandRule{"stats", ChatAction::stats, Argument::none, "/stats",
                "what the last answer took, and how full the context is"},
    CommandRule{"undo", ChatAction::undo, Argument::none, "/undo", "forget the last message and its answer"},
    CommandRule{"reset", ChatAction::reset, Argument::none, "/reset",
                "forget everything but the system prompt"},
    CommandRule{"save", ChatAction::save, Argument::required, "/save PATH",
                "write the conversation as JSON, as the server's API has messages"},
    CommandRule{"quit", ChatAction::quit, Argument::none, "/quit", "end; so does the end of the input"},
};

/// Reads the rest of a message that began with a fence and `first`. It ends with a line that is only a fence
/// if `first` is empty, else with a line that ends with a fence; pasted text does not end it. Line breaks
/// next to the fences are dropped.
std::expected<std::string, NoLine> read_fenced(LineSource& lines, std::string_view first) {
  std::string text = first.empty() ? "" : std::string(first) + '\n';
  for (;;) {
    const auto typed = lines.next(true);
    if (!typed && typed.error() == NoLine::given_up) return std::unexpected(typed.error());
    if (!typed) break;
    const bool is_end = first.empty() ? typed->text == fence : typed->text.ends_with(fence);
    if (is_end && !typed->is_pasted) {
      text += typed->text.substr(0, typed->text.size() - fence.size());
      break;
    }
    text += typed->text + '\n';
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Appends the lines that continue a line after a backslash.
std::expected<std::string, NoLine> read_continued(LineSource& lines, std::string line) {
  while (line.ends_with('\\')) {
    line.pop_back();
    const auto next = lines.next(true);
    if (!next && next.error() == NoLine::given_up) return std::unexpected(next.error());
    if (!next) break;
    line += '\n' + next->text;
  }
  return line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

ChatInput parse_command(std::string_view line) {
  const std::size_t end = std::min(line.find_first_of(blanks), line.size());
  const std::string_view name = line.substr(1, end - 1), argument = trimmed(line.substr(end));
  const auto rule = std::ranges::find(rules, name, &CommandRule::name);
  if (rule == rules.end()) {
    return ChatMistake{fmt::format(
        "there is no command /{}; /help lists them, and a message that begins with a slash has two",
        escape(name))};
  }
  if (rule->argument == Argument::required && argument.empty())
    return ChatMistake{fmt::format("/{} needs an argument: {}", name, rule->usage)};
  if (rule->argument == Argument::none && !argument.empty())
    return ChatMistake{fmt::format("/{} takes no argument", name)};
  return ChatCommand{rule->action, std::string(argument)};
}

bool is_command(std::string_view line) {
  return line.size() > 1 && line.front() == '/' && std::isalpha(static_cast<unsigned char>(line[1])) != 0;
}

/// Reads the message that begins with a line that is not a command.
std::expected<std::string, NoLine> read_message(LineSource& lines, TypedLine first) {
  std::string line = std::move(first.text);
  if (first.is_pasted) return line;
  if (line.starts_with(fence)) {
    const std::string_view after = std::string_view(line).substr(fence.size());
    if (after.ends_with(fence)) return std::string(after.substr(0, after.size() - fence.size()));
    return read_fenced(lines, after);
  }
  if (line.starts_with("//")) line.erase(0, 1);
  return read_continued(lines, std::move(line));
}

/// Returns the line that yields the message when it is typed again. One with line breaks counts as pasted.
std::string retyped(const std::string& message) {
  if (message.contains('\n')) return message;
  const std::string quotes(fence);
  if (message.ends_with('\\') || message.starts_with(fence)) return quotes + message + quotes;
  return message.starts_with('/') ? '/' + message : message;
}

std::expected<ChatInput, NoLine> read_once(LineSource& lines) {
  auto typed = lines.next(false);
  while (typed && typed->text.empty()) typed = lines.next(false);
  if (!typed) return std::unexpected(typed.error());
  if (!typed->is_pasted && is_command(typed->text)) {
    lines.remember(typed->text);
    return parse_command(typed->text);
  }
  auto message = read_message(lines, *std::move(typed));
  if (!message) return std::unexpected(message.error());
  lines.remember(retyped(*message));
  return TypedMessage{*std::move(message)};
}

}  // namespace

std::optional<ChatInput> read_chat_input(LineSource& lines) {
  for (;;) {
    auto input = read_once(lines);
    if (input) return *std::move(input);
    if (input.error() == NoLine::ended) return std::nullopt;
  }
}

std::string chat_help() {
  std::string text;
  for (const CommandRule& rule : rules) text += fmt::format("{:<12} {}\n", rule.usage, rule.help);
  return text +
         "A line that ends with \\ continues in the next one. Lines between lines of \"\"\" are one message, "
         "and "
         "so is pasted text.\nUp and Down recall earlier lines, Ctrl-R searches them. Ctrl-C ends an answer "
         "or "
         "clears the line, Ctrl-D ends the program.\n";
}

}  // namespace spectr::cli
