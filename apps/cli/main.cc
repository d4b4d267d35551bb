// The program `spectr`: parses, calls a command, reports errors. One line on stderr for every failure.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/commands.h"
#include "apps/cli/failure.h"
#include "spectr/base/version.h"

namespace {

using spectr::cli::Status;

int report(Status status, std::string message) {
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  std::fflush(stdout);
  fmt::print(stderr, "spectr: error: {}\n", message);
  return static_cast<int>(status);
}

int run(std::vector<std::string> arguments) {
  CLI::App app{
      "Makes a large language model generate faster with the help of a small one, and proves that it\n"
      "did not change what is generated.",
      "spectr"};
  app.set_version_flag("--version", "spectr " + std::string(spectr::version()));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  spectr::cli::add_generate(app);
  spectr::cli::add_tokenize(app);
  spectr::cli::add_detokenize(app);
  spectr::cli::add_logits(app);
  spectr::cli::add_perplexity(app);
  spectr::cli::add_inspect(app);
  spectr::cli::add_check_pair(app);
  spectr::cli::add_law(app);
  spectr::cli::add_plan(app);
  spectr::cli::add_serve(app);
  spectr::cli::add_chat(app);
  spectr::cli::add_lab(app);
  spectr::cli::add_bench(app);

  arguments = spectr::cli::modernise(std::move(arguments));
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& failure) {
    const std::vector<std::string> unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty()) {
      return report(Status::usage,
                    fmt::format("there is no command '{}'; see spectr --help", unknown.front()));
    }
    return report(Status::usage, failure.what());
  }
  return static_cast<int>(Status::done);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const spectr::cli::Failure& failure) {
    return report(failure.status(), failure.what());
  } catch (const std::bad_alloc&) {
    return report(Status::failed, "out of memory");
  } catch (const std::exception& failure) {
    return report(Status::failed, failure.what());
  }
}
