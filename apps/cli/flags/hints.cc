#include "apps/cli/flags/hints.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/llama_flags.h"
#include "apps/cli/flags/word_lists.h"
#include "spectr/base/names.h"
#include "spectr/engine/model_caches.h"

namespace spectr::cli {
namespace {

using Words = std::vector<std::string>;

// Names of commands in other programs.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"run", "chat"},          {"cli", "chat"},
    {"llama-cli", "chat"},    {"server", "serve"},
    {"start", "serve"},       {"llama-server", "serve"},
    {"list", "models"},       {"ls", "models"},
    {"complete", "generate"}, {"completion", "generate"},
    {"show", "inspect"},      {"info", "inspect"},
};

/// Returns the number of insertions, deletions, replacements and swaps of adjacent letters that turn `a` into
/// `b` if no letter is changed twice (optimal string alignment). Cost: product of the lengths.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j] + (a[i] == b[j] ? 0 : 1), next[j] + 1, row[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row.back();
}

/// Returns "; did you mean NAME" if one of the names is close, else an empty string.
std::string close_name(const std::string& given, const Words& names) {
  const std::string_view meant = closest(given.substr(0, given.find('=')), names);
  return meant.empty() ? "" : fmt::format("; did you mean {}", meant);
}

Words names_of_commands(const CLI::App& command) {
  Words names;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return names;
}

Words flags_of(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App* find_command(const CLI::App& app, std::string_view name) {
  const auto found = app.get_subcommands([name](const CLI::App* one) { return one->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

bool has_suffix(std::string_view text, std::string_view lower_suffix) {
  if (text.size() < lower_suffix.size()) return false;
  return std::ranges::equal(text.substr(text.size() - lower_suffix.size()), lower_suffix, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

bool is_model_file(const std::string& name) {
  if (has_suffix(name, ".gguf")) return true;
  char magic[4] = {};
  std::ifstream file(name, std::ios::binary);
  return file.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) == "GGUF";
}

/// Returns true for USER/REPO or USER/REPO:QUANT, unless a folder USER exists.
bool is_repository(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == 0 || slash == std::string::npos || name.find('/', slash + 1) != std::string::npos)
    return false;
  if (name.starts_with('.') || name.starts_with('~') || slash + 1 == name.size()) return false;
  std::error_code failed;
  return name.find_first_of(" \t\n") == std::string::npos &&
         !std::filesystem::exists(name.substr(0, slash), failed);
}

/// Returns true if a name almost certainly denotes a model.
bool is_surely_model(const std::string& name) {
  if (is_model_file(name)) return true;
  return is_repository(name) && (name.contains(':') || has_suffix(name, "-gguf") ||
                                 ModelCaches::of_the_environment().find(name).has_value());
}

Words model_flag(const std::string& name) {
  return {is_repository(name) && !is_model_file(name) ? "-hf" : "-m", name};
}

/// Quotes an argument for the shell.
std::string quoted(const std::string& argument) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The arguments after a command, split into flags with their values and others.
struct Typed {
  Words flags, others;
  bool has_model = false, has_prompt = false;

  Typed(const CLI::App& command, std::span<const std::string> arguments) {
    const Words all(arguments.begin(), arguments.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].starts_with('-')) {
        others.push_back(all[i]);
        continue;
      }
      const std::string name = all[i].substr(0, all[i].find('='));
      has_model = has_model || has_word("-m --model -hf -hfr --hf-repo -mu --model-url", name);
      has_prompt = has_prompt || has_word("-p --prompt -f --file --tokens", name);
      const bool is_secret = has_word("--api-key -hft --hf-token", name);
      flags.push_back(is_secret && name != all[i] ? name + "=..." : all[i]);
      for (std::size_t left = count_values(command, all, i); left > 0; --left, ++i)
        flags.push_back(is_secret ? "..." : all[i + 1]);
    }
  }
};

bool takes(const CLI::App& command, const char* option) {
  return command.get_option_no_throw(option) != nullptr;
}

/// Returns the command line with the missing flags of model and prompt, or nothing if there is no valid one.
/// `first_is_model`: the first argument must be a model.
std::optional<std::string> corrected(const CLI::App& command, std::span<const std::string> arguments,
                                     bool first_is_model) {
  const Typed typed(command, arguments);
  Words line;
  std::span<const std::string> rest = typed.others;
  const bool reads_file = takes(command, "--file") && !takes(command, "--prompt") && !typed.has_prompt;
  if (rest.size() == 1 && reads_file && !is_surely_model(rest.front())) {
    line = {"-f", rest.front()};
    rest = {};
  }
  if (!rest.empty() && !typed.has_model && takes(command, "--model") &&
      (first_is_model || !takes(command, "--prompt") || is_surely_model(rest.front()))) {
    line = model_flag(rest.front());
    rest = rest.subspan(1);
  }
  line.insert(line.end(), typed.flags.begin(), typed.flags.end());
  if (!rest.empty()) {
    if (typed.has_prompt || !takes(command, "--prompt")) return std::nullopt;
    line.insert(line.end(), {"-p", fmt::format("{}", fmt::join(rest, " "))});
  }
  std::string text = path_of(command);
  for (const std::string& argument : line) text += " " + quoted(argument);
  return text;
}

/// Returns true if the command accepts all of these flags.
bool accepts(const CLI::App& command, const Words& arguments) {
  try {
    (void)rewrite_legacy_flags(command, arguments);
    return true;
  } catch (const Failure&) {
    return false;
  }
}

[[noreturn]] void suggest(const std::string& problem, const std::string& line) {
  throw Failure(Status::usage, fmt::format("{}; did you mean: {}", problem, line));
}

/// Throws Failure with a suggestion if flags are given without a command.
void check_bare_flags(const CLI::App& app, const Words& arguments) {
  const auto names = [&](const char* first, const char* second, const char* third) {
    return std::array{find_command(app, first), find_command(app, second), find_command(app, third)};
  };
  const Typed typed(app, arguments);
  for (const std::string& other : typed.others) {
    const CLI::App* const command = find_command(app, other);
    if (command == nullptr) continue;
    const auto at = std::ranges::find(arguments, other);
    Words rest(arguments.begin(), at);
    if (!names_of_commands(*command).empty())
      throw Failure(Status::usage, fmt::format("flags go after the command: spectr {} ...", other));
    rest.insert(rest.end(), std::next(at), arguments.end());
    if (const auto line = corrected(*command, rest, false)) suggest("flags go after the command", *line);
  }
  const bool has_prompt = typed.has_prompt;
  const auto candidates =
      has_prompt ? names("generate", "chat", "serve") : names("chat", "serve", "generate");
  const std::string name = arguments.front().substr(0, arguments.front().find('='));
  const auto knows = [&name](const CLI::App* command) {
    const auto has_option = [command](std::string_view option) {
      return command->get_option_no_throw(std::string(option)) != nullptr;
    };
    return has_option(name) || find_llama_flag(name, command->get_name(), has_option) != nullptr;
  };
  const CLI::App* meant = nullptr;
  for (const CLI::App* command : candidates) {
    if (command == nullptr || !knows(command)) continue;
    if (meant == nullptr || (!accepts(*meant, arguments) && accepts(*command, arguments))) meant = command;
  }
  if (meant == nullptr) return;
  if (const auto line = corrected(*meant, arguments, false)) suggest("no command is given", *line);
}

}  // namespace

std::string_view closest(std::string_view given, std::span<const std::string> names) {
  std::string_view best;
  std::size_t nearest = given.size() / 4 + 1;
  for (const std::string& name : names) {
    if (const std::size_t distance = edit_distance(given, name); distance < nearest) {
      nearest = distance;
      best = name;
    }
  }
  return best;
}

Words replace_help_words(Words arguments) {
  if (arguments.empty()) return arguments;
  if (arguments.front() == "version") arguments.front() = "--version";
  const bool has_flags = std::ranges::any_of(arguments, [](const auto& one) { return one.starts_with('-'); });
  if (arguments.size() > 1 && arguments.back() == "help" && !has_flags) arguments.back() = "--help";
  if (arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  if (std::ranges::find(arguments, "--help-all") == arguments.end()) arguments.emplace_back("--help");
  return arguments;
}

void check_command(const CLI::App& app, const Words& arguments) {
  const CLI::App* const chat = find_command(app, "chat");
  if (arguments.empty() || chat == nullptr) return;
  const std::string& first = arguments.front();
  if (has_word("-h --help --help-all --usage --version", first) || find_command(app, first) != nullptr)
    return;
  if (first.starts_with('-')) return check_bare_flags(app, arguments);
  const std::string problem = fmt::format("there is no command '{}'", escape(first));
  const std::span<const std::string> rest = std::span(arguments).subspan(1);
  const auto* const other = std::ranges::find(other_names, first, [](const auto& one) { return one.first; });
  if (other != std::end(other_names)) {
    const CLI::App& command = *find_command(app, other->second);
    if (const auto line = corrected(command, rest, !takes(command, "--prompt") || other->second == "chat"))
      suggest(problem, *line);
  }
  if (first == "pull" || first == "download" || first == "get") {
    throw Failure(Status::usage, problem +
                                     ": nothing is downloaded; hf download USER/REPO puts a model where "
                                     "-hf USER/REPO finds it");
  }
  if (is_surely_model(first)) {
    if (const auto line = corrected(*chat, arguments, true)) suggest(problem, *line);
  }
  // Otherwise the parser would print the help of the whole program.
  if (std::ranges::find(rest, "--help") != rest.end() ||
      std::ranges::find(rest, "--help-all") != rest.end()) {
    throw Failure(Status::usage,
                  fmt::format("{}{}; see spectr --help", problem, close_name(first, names_of_commands(app))));
  }
}

std::string explain(const CLI::App& app, const Words& typed, const CLI::ParseError& failure) {
  const CLI::App* command = &app;
  std::string path;
  std::span<const std::string> rest = typed;
  while (!command->get_subcommands().empty() && !command->get_subcommands().back()->get_prefix_command()) {
    command = command->get_subcommands().back();
    path += command->get_name() + " ";
    if (!rest.empty()) rest = rest.subspan(1);
  }
  const Words unknown = command->remaining();
  const bool has_flags =
      std::ranges::any_of(unknown, [](const std::string& one) { return one.starts_with('-'); });
  if (command->get_require_subcommand_min() > 0 && unknown.empty())
    return fmt::format("no command is given; see spectr {}--help", path);
  if (command->get_require_subcommand_min() > 0 && !unknown.empty() && !unknown.front().starts_with('-')) {
    return fmt::format("there is no command '{}{}'{}; see spectr {}--help", path, unknown.front(),
                       close_name(unknown.front(), names_of_commands(*command)), path);
  }
  const bool is_required = dynamic_cast<const CLI::RequiredError*>(&failure) != nullptr;
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&failure) != nullptr;
  if (unknown.empty() || (!is_required && !is_extra)) return failure.what();
  const std::string what = fmt::format("{} was not expected", fmt::join(unknown, " "));
  if (const auto line = has_flags ? std::nullopt : corrected(*command, rest, false))
    return fmt::format("{}; did you mean: {}", what, *line);
  if (is_required && !unknown.front().starts_with('-')) return failure.what();
  return fmt::format("{}{}; see spectr {}--help", what, close_name(unknown.front(), flags_of(*command)),
                     path);
}

CLI::Validator model_file() {
  const auto check = [](std::string& name) -> std::string {
    if (name.empty()) return "the file name is empty";
    std::error_code failed;
    const bool is_path = name.starts_with('-') || name.starts_with('/') || has_suffix(name, ".gguf");
    if (is_path || std::filesystem::exists(name, failed)) return "";
    const std::string problem = escape(name) + ": cannot be opened (No such file or directory); ";
    if (is_repository(name)) return problem + "a model of a cache is given with -hf " + escape(name);
    if (name.contains('/')) return "";
    return problem + "give a path, or one of the names that spectr models lists with -hf";
  };
  return {check, ""};
}

}  // namespace spectr::cli
