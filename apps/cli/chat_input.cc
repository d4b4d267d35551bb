#include "apps/cli/chat_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <istream>
#include <string_view>

#include "apps/cli/paste_mode.h"
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

void show_prompt(bool shows, std::string_view prompt) {
  if (!shows) return;
  std::fwrite(prompt.data(), 1, prompt.size(), stderr);
}

bool read_line(std::istream& in, std::string& line) {
  if (!std::getline(in, line)) return false;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

/// Cuts the first mark from a line, and gives its place.
std::size_t cut_mark(std::string& line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at != std::string::npos) line.erase(at, mark.size());
  return at;
}

struct Typed {
  std::string text;
  bool is_pasted = false;  ///< from its first character on, or in several lines: it is no command
};

/// A line, and with it all lines of what was pasted into it.
std::optional<Typed> read_typed(std::istream& in) {
  std::string line;
  if (!read_line(in, line)) return std::nullopt;
  Typed typed;
  for (;;) {
    const std::size_t begin = cut_mark(line, PasteMode::begin_mark);
    if (begin == 0) typed.is_pasted = true;
    const bool is_open = begin != std::string::npos;
    while (is_open && cut_mark(line, PasteMode::end_mark) == std::string::npos) {
      typed.is_pasted = true;
      typed.text += line + '\n';
      line.clear();
      if (!read_line(in, line)) break;
    }
    if (!line.contains(PasteMode::begin_mark)) break;  // else something was pasted behind that
  }
  typed.text += line;
  return typed;
}

/// The rest of a message that began with a fence and `first` behind it. Where that is nothing, a line of a
/// fence alone ends it, else one that ends with a fence; what is pasted does not. A line break right behind
/// the first fence or before the last one is not part of it.
std::string read_fenced(std::istream& in, bool shows_prompts, std::string_view first) {
  std::string text = first.empty() ? "" : std::string(first) + '\n';
  while (show_prompt(shows_prompts, ". "), true) {
    const auto typed = read_typed(in);
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
    return ChatMistake{fmt::format("/{} needs more: {}", name, rule->usage)};
  if (rule->argument == Argument::none && !argument.empty())
    return ChatMistake{fmt::format("/{} takes nothing behind it", name)};
  return ChatCommand{rule->action, std::string(argument)};
}

bool is_command(std::string_view line) {
  return line.size() > 1 && line.front() == '/' && std::isalpha(static_cast<unsigned char>(line[1])) != 0;
}

}  // namespace

std::optional<ChatInput> read_chat_input(std::istream& in, bool shows_prompts) {
  std::optional<Typed> typed;
  do {
    show_prompt(shows_prompts, "\n> ");
    typed = read_typed(in);
    if (!typed) return std::nullopt;
  } while (typed->text.empty());
  if (typed->is_pasted) return ChatMessage{typed->text};

  std::string line = std::move(typed->text);
  if (line.starts_with(fence)) {
    const std::string_view behind = std::string_view(line).substr(fence.size());
    if (behind.ends_with(fence))
      return ChatMessage{std::string(behind.substr(0, behind.size() - fence.size()))};
    return ChatMessage{read_fenced(in, shows_prompts, behind)};
  }
  if (is_command(line)) return parse_command(line);
  if (line.starts_with("//")) line.erase(0, 1);
  while (line.ends_with('\\')) {
    line.pop_back();
    show_prompt(shows_prompts, ". ");
    const auto next = read_typed(in);
    if (!next) break;
    line += '\n' + next->text;
  }
  return ChatMessage{line};
}

std::string chat_help() {
  std::string text;
  for (const CommandRule& rule : rules) text += fmt::format("{:<12} {}\n", rule.usage, rule.help);
  return text +
         "A line that ends with \\ goes on in the next one; between lines of \"\"\" all is one message, and "
         "so "
         "is what is pasted.\nCtrl-C ends an answer.\n";
}

}  // namespace spectr::cli
