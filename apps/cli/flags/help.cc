#include "apps/cli/flags/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/cli/flags/word_lists.h"

namespace spectr::cli {
namespace {

constexpr std::size_t margin = 2, column = 30;

/// Returns the number of UTF-8 characters of a text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Wraps a text into lines of at most `width` characters. A longer word gets its own line.
std::vector<std::string> wrap(std::string text, std::size_t width) {
  std::ranges::replace(text, '\n', ' ');
  std::vector<std::string> lines;
  for (const std::string_view word : words_of(text)) {
    const bool fits = !lines.empty() && width_of(lines.back()) + 1 + width_of(word) <= width;
    if (fits) {
      lines.back().append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string paragraph(const std::string& text) {
  return fmt::format("{}\n", fmt::join(wrap(text, help_width), "\n"));
}

/// Formats a name with its meaning in the right column.
std::string entry(const std::string& name, const std::string& meaning) {
  std::string text(margin, ' ');
  text += name;
  const bool has_room = margin + width_of(name) + 2 <= column;
  std::size_t at = margin + width_of(name);
  if (!has_room) {
    text += '\n';
    at = 0;
  }
  for (const std::string& line : wrap(meaning, help_width - column)) {
    text.append(column - at, ' ').append(line).append("\n");
    at = 0;
  }
  if (meaning.empty() && has_room) text += '\n';
  return text;
}

/// The names, value and meaning of an option.
struct Described {
  std::string names, value, meaning;
};

/// Extracts a short name such as "-md FILE: " or "-k: " from the beginning of a description, since the parser
/// does not support names of several letters.
Described describe(const CLI::Option& option) {
  Described out{"", option.get_type_size() == 0 ? "" : option.get_type_name(), option.get_description()};
  if (out.value.starts_with("TEXT:")) out.value.erase(0, 5);  // the validator's description is more specific
  const std::size_t colon = out.meaning.find(": ");
  std::vector<std::string> names = {};
  if (out.meaning.starts_with('-') && colon != std::string::npos) {
    const std::string head = out.meaning.substr(0, colon);
    const std::size_t space = head.find(' ');
    names.push_back(head.substr(0, space));
    if (space != std::string::npos) out.value = head.substr(space + 1);
    out.meaning.erase(0, colon + 2);
  }
  if (option.get_positional() && option.get_lnames().empty() && option.get_snames().empty())
    names.push_back(option.get_name(true, false));
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  out.names = fmt::format("{}", fmt::join(names, ", "));
  return out;
}

std::string in_full(const CLI::Option& option) {
  Described about = describe(option);
  std::string notes;
  if (option.get_required()) notes += " (required)";
  if (option.get_type_size() != 0 && !option.get_default_str().empty())
    notes += fmt::format(" (default: {})", option.get_default_str());
  if (!option.get_envname().empty()) notes += fmt::format(" [{}]", option.get_envname());
  return entry(about.names + (about.value.empty() ? "" : " " + about.value), about.meaning + notes);
}

/// Returns the first clause of a description. An object in braces is kept whole.
std::string first_clause(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  const std::size_t colon = text.substr(0, text.find('{')).find(": ");
  return text.substr(0, std::min({text.find(';'), text.find(" ("), colon}));
}

std::string in_short(const CLI::Option& option) {
  const Described about = describe(option);
  // Shows only the first short and the first long name.
  std::string names = about.names.substr(0, about.names.find(", --"));
  if (!names.starts_with("--") && !option.get_lnames().empty()) names += ", --" + option.get_lnames().front();
  std::string meaning = first_clause(about.meaning);
  const std::string preset = option.get_default_str();
  if (option.get_type_size() != 0 && !preset.empty()) meaning += fmt::format(" (default: {})", preset);
  return entry(names + (about.value.empty() ? "" : " " + about.value), meaning);
}

std::string usage(const CLI::App& app, const std::string& name) {
  std::string line = "Usage: " + name + " [OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || !option->get_lnames().empty()) continue;
    const std::string positional = option->get_name(true, false);
    line += option->get_required() ? " " + positional : " [" + positional + "]";
  }
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty()) line += " SUBCOMMAND";
  return line + "\n";
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); });
}

bool is_help(const CLI::App& app, const CLI::Option* option) {
  return option == app.get_help_ptr() || option == app.get_help_all_ptr();
}

std::string examples_of(const HelpPage* page) {
  if (page == nullptr || page->examples.empty()) return "";
  std::string text = "\nExamples:\n";
  std::string_view rest = page->examples;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text.append("  ").append(rest.substr(0, end)).append("\n");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

std::string short_help(const CLI::App& app, const std::string& name, const HelpPage* page) {
  std::string text = usage(app, name) + paragraph(app.get_description());
  if (const auto commands = commands_of(app); !commands.empty()) {
    text += "\nCommands:\n";
    for (const CLI::App* one : commands) text += entry(one->get_name(), first_clause(one->get_description()));
  }
  std::string options;
  const auto add = [&](const CLI::Option* option) {
    if (!is_help(app, option)) options += in_short(*option);
  };
  if (page != nullptr && !page->options.empty()) {
    for (const std::string_view wanted : words_of(page->options)) {
      if (const CLI::Option* option = app.get_option_no_throw(std::string(wanted))) add(option);
    }
  } else {
    for (const CLI::Option* option : app.get_options()) add(option);
  }
  if (!options.empty()) text += "\nOptions:\n" + options;
  return text + examples_of(page) + "\n" + name + " --help-all lists everything.\n";
}

std::string full_help(const CLI::App& app, const std::string& name, const HelpPage* page) {
  std::string text = usage(app, name) + paragraph(app.get_description());
  for (const std::string& group : app.get_groups()) {
    std::string options;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() == group) options += in_full(*option);
    }
    if (!group.empty() && !options.empty()) text += "\n" + group + ":\n" + options;
  }
  text += examples_of(page);
  for (const CLI::App* one : commands_of(app)) {
    const std::string its_name = name + " " + one->get_name();
    text += "\n\n" + one->help(name, CLI::AppFormatMode::Sub);
  }
  return text;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  const std::size_t space = name.find(' ');
  const HelpPage* page =
      help_page(space == std::string::npos ? "" : std::string_view(name).substr(space + 1));
  return mode == CLI::AppFormatMode::Normal ? short_help(*app, name, page) : full_help(*app, name, page);
}

}  // namespace spectr::cli
