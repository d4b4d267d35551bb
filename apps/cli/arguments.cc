#include "apps/cli/arguments.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "apps/cli/failure.h"

namespace spectr::cli {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array aliases = {
    Pair{"-md", "--model-draft"}, Pair{"-k", "-K"},         Pair{"-sys", "--system-prompt"},
    Pair{"-np", "--parallel"},    Pair{"-to", "--timeout"}, Pair{"-no-cnv", "--no-conversation"},
};

constexpr std::string_view one_setting = "the draft shares the target's setting";
constexpr std::string_view by_law =
    "drafts are accepted by their exact law, not by a threshold of probability";
constexpr std::string_view by_method =
    "choose with --method, or in requests to the server with 'speculative'";
constexpr std::string_view by_weights = "quantised models keep keys and values as halves, others as floats";
constexpr std::string_view no_gpu = "spectr computes on the CPU";
constexpr std::string_view chat = "spectr chat is the conversation";
constexpr std::string_view width = "spectr sizes its passes itself";
constexpr std::string_view no_download = "nothing is downloaded; -m and -md take files";
constexpr std::array refused = {
    Pair{"--draft-min", "a block drafts L tokens"},
    Pair{"--draft-n-min", "a block drafts L tokens"},
    Pair{"--spec-draft-n-min", "a block drafts L tokens"},
    Pair{"--draft-p-min", by_law},
    Pair{"--spec-draft-p-min", by_law},
    Pair{"--draft-p-split", by_law},
    Pair{"--spec-draft-p-split", by_law},
    Pair{"--spec-type", by_method},
    Pair{"--spec-draft-sampling", "drafts are always sampled; choose with --method and --plan"},
    Pair{"-cd", one_setting},
    Pair{"--ctx-size-draft", one_setting},
    Pair{"-td", one_setting},
    Pair{"--threads-draft", one_setting},
    Pair{"-tb", "one number of threads (-t) serves all passes"},
    Pair{"--threads-batch", "one number of threads (-t) serves all passes"},
    Pair{"-b", width},
    Pair{"--batch-size", width},
    Pair{"-ub", width},
    Pair{"--ubatch-size", width},
    Pair{"-cnv", chat},
    Pair{"--conversation", chat},
    Pair{"-st", "spectr generate writes one text and ends"},
    Pair{"--single-turn", "spectr generate writes one text and ends"},
    Pair{"-ctk", by_weights},
    Pair{"--cache-type-k", by_weights},
    Pair{"-ctv", by_weights},
    Pair{"--cache-type-v", by_weights},
    Pair{"-ctkd", by_weights},
    Pair{"-ctvd", by_weights},
    Pair{"-fa", "there is one implementation of attention"},
    Pair{"--flash-attn", "there is one implementation of attention"},
    Pair{"-ngl", no_gpu},
    Pair{"--gpu-layers", no_gpu},
    Pair{"--n-gpu-layers", no_gpu},
    Pair{"-ngld", no_gpu},
    Pair{"-devd", no_gpu},
    Pair{"--grammar", "output cannot be constrained"},
    Pair{"--grammar-file", "output cannot be constrained"},
    Pair{"--json-schema", "output cannot be constrained"},
    Pair{"-j", "output cannot be constrained"},
    Pair{"-jf", "output cannot be constrained"},
    Pair{"-hf", no_download},
    Pair{"-hfr", no_download},
    Pair{"-hfd", no_download},
    Pair{"--hf-repo", no_download},
    Pair{"--lora", "adapters are not applied; merge them into the file"},
    Pair{"--samplers", "the order of the filters is fixed"},
};

// Variables of the same meaning as a flag above.
constexpr std::array refused_variables = {
    Pair{"LLAMA_ARG_SPEC_TYPE", by_method},
    Pair{"LLAMA_ARG_SPEC_DRAFT_P_MIN", by_law},
};

[[noreturn]] void refuse(std::string_view name, std::string_view reason) {
  throw Failure(Status::usage, fmt::format("{} is not supported: {}", name, reason));
}

/// Whether it looks like an option of one dash with a name of several letters. There is none: the parser
/// would take "-hf" for "-h" with a value.
bool is_long_word_behind_one_dash(std::string_view argument) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return argument.size() > 2 && argument[0] == '-' && letter(argument[1]) && letter(argument[2]);
}

/// The command of that name, of `command` or next to it (bench pp tg); null if there is none.
const CLI::App* find_command(const CLI::App& command, const std::string& name) {
  const auto is_named = [&name](const CLI::App* one) { return one->get_name() == name; };
  for (const CLI::App* place : {&command, command.get_parent()}) {
    if (place == nullptr) continue;
    if (const auto found = place->get_subcommands(is_named); !found.empty()) return found.front();
  }
  return nullptr;
}

/// Whether what follows the argument is its value, whatever it looks like.
bool takes_value(const CLI::App& command, const std::string& argument) {
  const CLI::Option* const option = command.get_option_no_throw(argument);
  return option != nullptr && argument.starts_with('-') && option->get_items_expected_min() > 0;
}

}  // namespace

std::vector<std::string> modernise(const CLI::App& app, std::vector<std::string> arguments) {
  const CLI::App* command = &app;
  bool is_value = false;
  for (std::string& argument : arguments) {
    if (std::exchange(is_value, false)) continue;
    if (argument == "--") break;
    if (const CLI::App* const chosen = find_command(*command, argument)) command = chosen;
    for (const auto& [old, now] : aliases) {
      if (argument == old) argument = now;
    }
    const std::string_view flag = std::string_view(argument).substr(0, argument.find('='));
    for (const auto& [name, reason] : refused) {
      if (flag == name) refuse(name, reason);
    }
    if (is_long_word_behind_one_dash(argument))
      throw Failure(Status::usage, fmt::format("{} was not expected; see spectr --help", flag));
    is_value = takes_value(*command, argument);
  }
  return arguments;
}

void refuse_variables() {
  for (const auto& [name, reason] : refused_variables) {
    const char* value = std::getenv(name.data());
    if (value != nullptr && *value != '\0') refuse(name, reason);
  }
}

}  // namespace spectr::cli
