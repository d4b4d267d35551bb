#include <cstdio>
#include <memory>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/report/model_summary.h"
#include "spectr/gguf/gguf.h"
#include "spectr/gguf/inspect.h"

namespace spectr::cli {

void add_inspect(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App& command =
      *app.add_subcommand("inspect", "Whether a GGUF file can be run, what it needs, and what it holds");
  command.add_option("-m,--model,FILE", *path, "the file")->transform(file_name());
  command.callback([path] {
    if (path->empty()) throw Failure(Status::usage, "no file: give spectr inspect FILE");
    const Gguf file = need(Gguf::open(*path));
    const std::string text = summary_of(file) + "\n" + describe(file);
    std::fwrite(text.data(), 1, text.size(), stdout);
  });
}

}  // namespace spectr::cli
