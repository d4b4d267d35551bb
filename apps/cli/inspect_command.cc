#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "spectr/gguf/gguf.h"
#include "spectr/gguf/inspect.h"
#include "spectr/nn/arch/architectures.h"

namespace spectr::cli {

void add_inspect(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("inspect", "What a GGUF file holds: metadata and tensors");
  command.add_option("-m,--model,FILE", *path, "the file")->transform(file_name());
  command.callback([path] {
    if (path->empty()) throw Failure(Status::usage, "no file: give spectr inspect FILE");
    const Gguf file = need(Gguf::open(*path));
    std::string text = describe(file);
    if (const auto spec = read_model_spec(file)) {
      for (const std::string& note : spec->notes) text += fmt::format("\nnote: {}\n", note);
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
  });
}

}  // namespace spectr::cli
