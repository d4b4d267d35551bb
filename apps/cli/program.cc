#include "apps/cli/program.h"

#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <utility>

#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/help.h"
#include "apps/cli/flags/hints.h"
#include "apps/cli/shortened_files.h"
#include "spectr/base/os/terminal.h"
#include "spectr/base/version.h"

namespace spectr::cli {
namespace {

/// Makes all writes to standard error succeed, even if it is closed or full, so that lost messages neither
/// stop the program nor change its exit status.
void ignore_stderr_errors() {
#ifdef __GLIBC__
  const auto write = [](void*, const char* bytes, std::size_t size) -> ssize_t {
    write_to_stderr({bytes, size});
    return static_cast<ssize_t>(size);
  };
  std::FILE* const stream = fopencookie(nullptr, "w", {nullptr, write, nullptr, nullptr});
  if (stream == nullptr) return;
  std::setvbuf(stream, nullptr, _IONBF, 0);
  stderr = stream;
#endif
}

/// Flushes standard output. Throws Failure if any output was lost.
void finish_output() {
  errno = 0;
  std::cout.flush();
  std::fflush(stdout);
  if (std::cout && std::ferror(stdout) == 0) return;
  if (errno == 0) {  // an earlier error without errno: write one byte to get it
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
  throw Failure(Status::failed, fmt::format("standard output: {}", std::strerror(errno != 0 ? errno : EIO)));
}

/// Makes each subcommand process its own flags and variables as soon as its arguments have been parsed;
/// otherwise the parser would read the variables of all subcommands. Notes are printed after its arguments
/// are known to be valid, because an error must be a single line.
void isolate(CLI::App& app, std::vector<std::string>& notes) {
  for (CLI::App* command : app.get_subcommands({})) {
    command->parse_complete_callback([command, &notes] {
      if (command->remaining_size() > 0 || notes.empty()) return;
      fmt::print(stderr, "{}\n", fmt::join(std::exchange(notes, {}), "; "));
    });
    isolate(*command, notes);
  }
}

std::string version_lines() {
  const std::string from = commit().empty() ? "" : fmt::format(" (commit {})", commit());
  return fmt::format("spectr {}{}\nbuild {:016x}", version(), from, build_identity());
}

/// Parses the arguments, which runs a command. Returns the exit status and propagates its exceptions.
int parse(std::vector<std::string> typed, const AddCommands& add_commands) {
  CLI::App app{
      "Makes a large language model generate faster with the help of a small one, without changing the\n"
      "output distribution.",
      "spectr"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print what most people need, and end");
  app.set_help_all_flag("--help-all", "print all commands, flags, variables and examples, and end");
  app.set_version_flag("--version", version_lines())->description("print the version, and end");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_commands(app);
  std::vector<std::string> notes;
  isolate(app, notes);
  read_old_variables(app);

  typed = replace_help_words(std::move(typed));
  check_command(app, typed);
  Rewritten read = rewrite_legacy_flags(app, typed);
  notes = std::move(read.notes);
  std::vector<std::string> reversed(read.arguments.rbegin(), read.arguments.rend());
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
    return report_failure(Status::usage, explain(app, typed, failure));
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
