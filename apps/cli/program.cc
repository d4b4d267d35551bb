#include "apps/cli/program.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <utility>

#include "apps/cli/arguments.h"
#include "apps/cli/shortened_files.h"
#include "spectr/base/version.h"

namespace spectr::cli {
namespace {

/// Makes every write to standard error succeed, also where it is closed or full: messages that are lost end
/// no work and change no exit status.
void ignore_stderr_errors() {
#ifdef __GLIBC__
  const auto write = [](void*, const char* bytes, std::size_t size) -> ssize_t {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, bytes, size);
    return static_cast<ssize_t>(size);
  };
  std::FILE* const stream = fopencookie(nullptr, "w", {nullptr, write, nullptr, nullptr});
  if (stream == nullptr) return;
  std::setvbuf(stream, nullptr, _IONBF, 0);
  stderr = stream;
#endif
}

/// Flushes standard output. Throws Failure where some of it was lost, be it in the last moment.
void finish_output() {
  errno = 0;
  std::cout.flush();
  std::fflush(stdout);
  if (std::cout && std::ferror(stdout) == 0) return;
  if (errno == 0) {  // it was lost before, and the reason with it: one more byte meets the same
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
  throw Failure(Status::failed, fmt::format("standard output: {}", std::strerror(errno != 0 ? errno : EIO)));
}

/// Each subcommand reads its own flags and variables, as soon as its part of the line has been read: the
/// parser would otherwise read the variables of all subcommands, whichever was called.
void isolate(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({})) {
    command->parse_complete_callback([] {});
    isolate(*command);
  }
}

/// "; did you mean NAME", where one of the names is close.
std::string hint(const std::string& given, const std::vector<std::string>& names) {
  const std::string_view meant = closest(given.substr(0, given.find('=')), names);
  return meant.empty() ? "" : fmt::format("; did you mean {}", meant);
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The message for arguments that cannot be parsed; it names the first unknown one.
std::string explain(const CLI::App& app, const CLI::ParseError& failure) {
  const CLI::App* command = &app;
  std::string path;
  while (!command->get_subcommands().empty() && !command->get_subcommands().back()->get_prefix_command()) {
    command = command->get_subcommands().back();
    path += command->get_name() + " ";
  }
  const std::vector<std::string> unknown = command->remaining();
  if (command->get_require_subcommand_min() > 0 && !unknown.empty())
    return fmt::format("there is no command '{}{}'{}; see spectr {}--help", path, unknown.front(),
                       hint(unknown.front(), commands_of(*command)), path);
  if (dynamic_cast<const CLI::ExtrasError*>(&failure) != nullptr && !unknown.empty())
    return fmt::format("{} was not expected{}; see spectr {}--help", fmt::join(unknown, " "),
                       hint(unknown.front(), flags_of(*command)), path);
  return failure.what();
}

/// Parses the arguments, which calls a command, and returns the exit status. Throws what the command throws.
int parse(std::vector<std::string> arguments, const AddCommands& add_commands) {
  CLI::App app{
      "Makes a large language model generate faster with the help of a small one, and proves that the law\n"
      "of what is generated stays the large one's.",
      "spectr"};
  app.set_version_flag("--version", "spectr " + std::string(version()));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_commands(app);
  isolate(app);

  arguments = rewrite_legacy_flags(app, std::move(arguments));
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& failure) {
    return report_failure(Status::usage, explain(app, failure));
  }
  return static_cast<int>(Status::done);
}

}  // namespace

int report_failure(Status status, std::string message) {
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  std::fflush(stdout);
  fmt::print(stderr, "spectr: error: {}\n", message);
  return static_cast<int>(status);
}

int run_program(std::vector<std::string> arguments, const AddCommands& add_commands) {
  ignore_stderr_errors();
  tell_shortened_files();
  try {
    const int status = parse(std::move(arguments), add_commands);
    if (status == static_cast<int>(Status::done)) finish_output();
    return status;
  } catch (const Failure& failure) {
    return report_failure(failure.status(), failure.what());
  } catch (const std::bad_alloc&) {
    return report_failure(Status::failed, "out of memory");
  } catch (const std::exception& failure) {
    return report_failure(Status::failed, failure.what());
  }
}

}  // namespace spectr::cli
