#include "apps/cli/flags/arguments.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/flags/llama_flags.h"
#include "apps/cli/flags/word_lists.h"

namespace spectr::cli {
namespace {

using Words = std::vector<std::string>;

// Names of environment variables in older releases of llama.cpp, and their current names.
constexpr std::pair<std::string_view, std::string_view> old_variables[] = {
    {"LLAMA_ARG_DRAFT_MAX", "LLAMA_ARG_SPEC_DRAFT_N_MAX"},
    {"LLAMA_ARG_MODEL_DRAFT", "LLAMA_ARG_SPEC_DRAFT_MODEL"},
    {"LLAMA_ARG_HFD_REPO", "LLAMA_ARG_SPEC_DRAFT_HF_REPO"},
};

[[noreturn]] void refuse(std::string_view name, std::string_view reason, std::string_view value = {}) {
  throw Failure(Status::usage, fmt::format("{} is not supported: {}{}", name, reason,
                                           value.empty() ? "" : fmt::format("; got '{}'", value)));
}

/// Returns the value of an option that is not on the command line: its variable or its default.
std::string value_without_arguments(const CLI::Option& option) {
  const char* const variable =
      option.get_envname().empty() ? nullptr : std::getenv(option.get_envname().c_str());
  return variable != nullptr && *variable != '\0' ? variable : option.get_default_str();
}

/// Returns true if an argument looks like a single-dash option with several letters. The parser has no such
/// options: it would read "-sm" as "-s" with a value.
bool is_long_word_behind_one_dash(std::string_view argument) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return argument.size() > 2 && argument[0] == '-' && letter(argument[1]) && letter(argument[2]);
}

/// Returns the subcommand of that name of `command` or its parent (bench pp tg); null if there is none.
const CLI::App* find_neighbour(const CLI::App& command, const std::string& name) {
  const auto is_named = [&name](const CLI::App* one) { return one->get_name() == name; };
  for (const CLI::App* place : {&command, command.get_parent()}) {
    if (place == nullptr) continue;
    if (const auto found = place->get_subcommands(is_named); !found.empty()) return found.front();
  }
  return nullptr;
}

const CLI::Option* find_option(const CLI::App& command, std::string_view name) {
  return name.starts_with('-') ? command.get_option_no_throw(std::string(name)) : nullptr;
}

const LlamaFlags* find_row(const CLI::App& command, std::string_view name) {
  return find_llama_flag(name, command.get_name(), [&command](std::string_view option) {
    return find_option(command, option) != nullptr;
  });
}

/// A flag and its value after "=", if any.
struct Flag {
  std::string name;
  std::optional<std::string> value;

  explicit Flag(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    name = argument.substr(0, equals);
    if (equals != std::string::npos) value = argument.substr(equals + 1);
  }
};

std::size_t count_row_values(const LlamaFlags& row, const Words& arguments, std::size_t at) {
  const std::size_t left = arguments.size() - at - 1;
  switch (row.values) {
    case Values::none:
      return 0;
    case Values::maybe_word:
      return left > 0 && is_switch_word(arguments[at + 1]) ? 1 : 0;
    case Values::one:
      return std::min<std::size_t>(left, 1);
    case Values::two:
      return std::min<std::size_t>(left, 2);
  }
  return 0;
}

const CLI::App& root_of(const CLI::App& command) {
  const CLI::App* root = &command;
  while (root->get_parent() != nullptr) root = root->get_parent();
  return *root;
}

/// Finds the commands that have an option of that name, or the option that replaces llama.cpp's flag.
void find_commands_with(const CLI::App& command, std::string_view name, Words& found) {
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; })) {
    const LlamaFlags* row = find_row(*one, name);
    const bool is_renamed = row != nullptr && row->treatment == Treatment::renamed;
    if (is_renamed || find_option(*one, name) != nullptr) found.push_back(path_of(*one));
    find_commands_with(*one, name, found);
  }
}

class Rewriter {
 public:
  explicit Rewriter(const CLI::App& app) : command_(&app) {}

  Rewritten rewrite(const Words& arguments) && {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      if (const CLI::App* const chosen = find_neighbour(*command_, argument)) command_ = chosen;
      if (argument == "--" || command_->get_prefix_command()) {
        kept_.insert(kept_.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
        break;
      }
      if (command_->get_parent() == nullptr && !kept_.empty() && !kept_.front().starts_with('-')) {
        kept_.push_back(argument);  // argument of an unknown command
        continue;
      }
      i += take(arguments, i);
    }
    check_shared_values();
    return {std::move(kept_), std::move(notes_)};
  }

 private:
  /// Processes one argument. Returns how many of the following ones are its values.
  std::size_t take(const Words& arguments, std::size_t at) {
    const std::string& argument = arguments[at];
    const Flag flag(argument);
    if (const CLI::Option* const option = find_option(*command_, flag.name)) {
      if (!flag.value || flag.name.starts_with("--")) return keep(arguments, at, argument);
      // For short flags, the parser would read "=" as part of the value.
      if (option->get_items_expected_min() == 0)
        throw Failure(Status::usage, fmt::format("{} takes no value", flag.name));
      kept_.insert(kept_.end(), {flag.name, *flag.value});
      return 0;
    }
    const LlamaFlags* const row = argument.starts_with('-') ? find_row(*command_, flag.name) : nullptr;
    const bool is_foreign =
        row != nullptr && !row->commands.empty() && !has_word(row->commands, command_->get_name());
    // The reason for which another command refuses the flag does not apply to this one.
    if (is_foreign && row->treatment == Treatment::refused) check_belongs(flag.name);
    if (row == nullptr) {
      if (argument.starts_with('-')) check_unknown(flag.name);
      kept_.push_back(argument);
      return 0;
    }
    if (row->treatment == Treatment::renamed) return rename(*row, flag, arguments, at);
    const std::size_t values = flag.value ? 0 : count_row_values(*row, arguments, at);
    std::string note =
        row->treatment == Treatment::noted && !is_foreign ? fmt::format("{}: {}", flag.name, row->text) : "";
    if (!note.empty() && std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
    if (row->treatment == Treatment::refused)
      check_refused(*row, flag.name, flag.value.value_or(values > 0 ? arguments[at + 1] : ""));
    if (row->treatment != Treatment::refused && row->values == Values::one && values == 0 && !flag.value)
      throw Failure(Status::usage, fmt::format("{}: a value is missing", flag.name));
    return values;
  }

  std::size_t rename(const LlamaFlags& row, const Flag& flag, const Words& arguments, std::size_t at) {
    const std::string now(row.text);
    if (!flag.value) return keep(arguments, at, now);
    if (now.starts_with("--")) {
      kept_.push_back(now + "=" + *flag.value);
    } else {
      kept_.insert(kept_.end(), {now, *flag.value});
    }
    return 0;
  }

  /// Keeps an option of the command under this name, together with its value.
  std::size_t keep(const Words& arguments, std::size_t at, const std::string& name) {
    kept_.push_back(name);
    const CLI::Option* const option = find_option(*command_, name);
    if (option == nullptr || option->get_items_expected_min() == 0 || at + 1 >= arguments.size()) return 0;
    kept_.push_back(arguments[at + 1]);
    return 1;
  }

  void check_refused(const LlamaFlags& row, const std::string& name, const std::string& value) {
    if (is_neutral(row.neutral, value)) return;
    const std::size_t same = row.neutral.find("=--");
    if (same != std::string_view::npos && !value.empty()) {
      shared_.push_back({row, name, value, row.neutral.substr(same + 1)});
      return;
    }
    refuse(name, row.text, row.neutral.empty() ? "" : value);
  }

  /// Accepts draft flags only if they repeat the value of the target's flag.
  void check_shared_values() const {
    for (const Shared& one : shared_) {
      const CLI::Option* const option = find_option(*command_, one.option);
      std::string of_target = option == nullptr ? "" : value_without_arguments(*option);
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        const Flag flag(kept_[i]);
        if (option == nullptr || find_option(*command_, flag.name) != option) continue;
        of_target = flag.value.value_or(i + 1 < kept_.size() ? kept_[i + 1] : "");
      }
      if (of_target != one.value) refuse(one.name, one.row.text, one.value);
    }
  }

  /// Throws Failure if the flag belongs to other commands.
  void check_belongs(const std::string& name) const {
    Words commands;
    find_commands_with(root_of(*command_), name, commands);
    if (commands.empty() || command_->get_parent() == nullptr) return;
    const bool has_more = commands.size() > 3;
    if (has_more) commands.resize(3);
    throw Failure(Status::usage,
                  fmt::format("{} is a flag of {}{}, not of {}", name, fmt::join(commands, ", "),
                              has_more ? " and others" : "", path_of(*command_)));
  }

  void check_unknown(const std::string& name) const {
    check_belongs(name);
    if (is_long_word_behind_one_dash(name)) {
      throw Failure(Status::usage,
                    fmt::format("{} was not expected; see {} --help", name, path_of(*command_)));
    }
  }

  struct Shared {
    const LlamaFlags& row;
    std::string name, value;
    std::string_view option;  // the target's flag that must have the same value
  };

  const CLI::App* command_;
  Words kept_, notes_;
  std::vector<Shared> shared_;
};

/// Collects the environment variables of the options of the command and its subcommands.
void add_variables(const CLI::App& command, std::set<std::string>& names) {
  for (const CLI::Option* option : command.get_options()) names.insert(option->get_envname());
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    add_variables(*one, names);
}

const LlamaFlags* find_variable(std::string_view name) {
  const auto rows = llama_flags();
  const auto found =
      std::ranges::find_if(rows, [name](const LlamaFlags& row) { return has_word(row.variables, name); });
  return found == rows.end() ? nullptr : &*found;
}

/// Returns true if the variable of a refused flag has a neutral value.
bool asks_for_nothing(const CLI::App& command, const LlamaFlags& row, std::string_view value) {
  if (row.values == Values::none) return is_off(value);
  if (is_neutral(row.neutral, value)) return true;
  const std::size_t same = row.neutral.find("=--");
  if (same == std::string_view::npos) return false;
  const CLI::Option* const option = find_option(command, row.neutral.substr(same + 1));
  if (option == nullptr) return false;
  return value == (option->empty() ? option->get_default_str() : option->results().back());
}

/// Returns a notice about a variable; empty if there is none. Throws Failure.
std::string review_variable(const CLI::App& command, const std::string& name, std::string_view value) {
  constexpr std::string_view negative = "LLAMA_ARG_NO_";
  const LlamaFlags* row = find_variable(name);
  const bool is_negated = row == nullptr && name.starts_with(negative);
  if (is_negated) row = find_variable("LLAMA_ARG_" + name.substr(negative.size()));
  if (row == nullptr) return fmt::format("{} is not understood, and changes nothing", name);
  if (is_negated || row->treatment == Treatment::ignored) return "";
  if (!row->commands.empty() && !has_word(row->commands, command.get_name())) return "";
  if (row->treatment == Treatment::noted)
    return row->values == Values::none && is_off(value) ? "" : fmt::format("{}: {}", name, row->text);
  if (!asks_for_nothing(command, *row, value)) refuse(name, row->text);
  return "";
}

}  // namespace

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

Rewritten rewrite_legacy_flags(const CLI::App& app, const Words& arguments) {
  return Rewriter(app).rewrite(arguments);
}

Words pick_options(const CLI::App& app, const Words& arguments) {
  Words picked;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const Flag flag(arguments[i]);
    const LlamaFlags* const row = arguments[i].starts_with('-') ? find_row(app, flag.name) : nullptr;
    const bool is_renamed = row != nullptr && row->treatment == Treatment::renamed;
    const std::string name = is_renamed ? std::string(row->text) : flag.name;
    const std::size_t values = flag.value ? 0 : count_values(app, arguments, i);
    if (find_option(app, name) != nullptr) {
      picked.push_back(flag.value ? name + "=" + *flag.value : name);
      if (values > 0) picked.push_back(arguments[i + 1]);
    }
    i += values;
  }
  return picked;
}

std::size_t count_values(const CLI::App& command, const Words& arguments, std::size_t at) {
  const Flag flag(arguments[at]);
  if (flag.value || !arguments[at].starts_with('-')) return 0;
  const std::size_t left = arguments.size() - at - 1;
  if (const CLI::Option* const option = find_option(command, flag.name))
    return option->get_items_expected_min() > 0 ? std::min<std::size_t>(left, 1) : 0;
  const LlamaFlags* const row = find_row(command, flag.name);
  return row == nullptr ? 0 : count_row_values(*row, arguments, at);
}

void read_old_variables(CLI::App& app) {
  const auto is_set = [](std::string_view name) { return std::getenv(std::string(name).c_str()) != nullptr; };
  for (CLI::Option* option : app.get_options()) {
    for (const auto& [old, now] : old_variables) {
      if (option->get_envname() == now && is_set(old) && !is_set(now)) option->envname(std::string(old));
    }
  }
  for (CLI::App* one : app.get_subcommands({})) read_old_variables(*one);
}

void check_variables(const CLI::App& command) {
  std::set<std::string> known;
  for (const auto& [old, now] : old_variables) known.insert({std::string(old), std::string(now)});
  add_variables(root_of(command), known);
  Words notes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view setting = *entry;
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string name(setting.substr(0, equals));
    if (!name.starts_with("LLAMA_ARG_") || equals + 1 >= setting.size() || known.contains(name)) continue;
    if (std::string note = review_variable(command, name, setting.substr(equals + 1)); !note.empty())
      notes.push_back(std::move(note));
  }
  for (const std::string& note : notes) fmt::print(stderr, "{}\n", note);
}

}  // namespace spectr::cli
