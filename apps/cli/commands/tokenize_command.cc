#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/model_flags.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/report/output.h"

namespace spectr::cli {

void add_tokenize(CLI::App& app) {
  struct Flags {
    ModelFlags model;
    TextInput input;
    bool no_bos = false;
    bool special = false;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("tokenize", "Text to token ids");
  flags->model.add_model(command, true);
  flags->input.add(command, "the text to tokenize");
  command.add_flag("--no-bos", flags->no_bos, "do not put the beginning-of-text token in front");
  command.add_flag("--special", flags->special, "recognise special tokens in the text");
  command.add_flag("--json", flags->json, "print {\"tokens\": [...]}");
  command.callback([flags] {
    const auto tokenizer = load_tokenizer(flags->model.model);
    const auto tokens =
        tokenizer->encode(flags->input.read(), {.add_bos = !flags->no_bos, .parse_special = flags->special});
    if (flags->json) {
      print_json({{"tokens", tokens}});
    } else {
      fmt::print("{}\n", fmt::join(tokens, " "));
    }
  });
}

void add_detokenize(CLI::App& app) {
  struct Flags {
    ModelFlags model;
    std::string tokens;
    bool special = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("detokenize", "Token ids to text");
  flags->model.add_model(command, true);
  command.add_option("--tokens", flags->tokens, "ids, separated by commas")->required();
  command.add_flag("--special", flags->special, "show the names of control tokens, too");
  command.callback([flags] {
    const auto tokenizer = load_tokenizer(flags->model.model);
    const std::string text =
        tokenizer->decode(parse_tokens(flags->tokens, tokenizer->vocabulary().size()), flags->special);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
  });
}

}  // namespace spectr::cli
