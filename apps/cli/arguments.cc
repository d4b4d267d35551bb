#include "apps/cli/arguments.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apps/cli/failure.h"

namespace spectr::cli {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array aliases = {
    Pair{"-md", "--model-draft"},     Pair{"-k", "-K"},
    Pair{"-sys", "--system-prompt"},  Pair{"-np", "--parallel"},
    Pair{"-to", "--timeout"},         Pair{"-no-cnv", "--no-conversation"},
    Pair{"-ctk", "--cache-type-k"},   Pair{"-ctv", "--cache-type-v"},
    Pair{"-hf", "--hf-repo"},         Pair{"-hfr", "--hf-repo"},
    Pair{"-hff", "--hf-file"},        Pair{"-hfd", "--hf-repo-draft"},
    Pair{"-hfrd", "--hf-repo-draft"}, Pair{"-mu", "--model-url"},
    Pair{"-dev", "--device"},         Pair{"-devd", "--device-draft"},
    Pair{"-ngl", "--n-gpu-layers"},   Pair{"-ngld", "--n-gpu-layers-draft"},
};

/// Switches that ask for what is done anyway.
constexpr std::array<std::string_view, 2> without_effect = {"--jinja", "--slots"};

/// A flag, or a variable, without a meaning here.
struct Refused {
  std::string_view name;
  std::string_view reason;
  std::string_view neutral = {};  ///< a value with which it asks for nothing
};

constexpr std::string_view one_setting = "the draft shares the target's setting";
constexpr std::string_view by_law =
    "drafts are accepted by their exact law, not by a threshold of probability";
constexpr std::string_view by_method =
    "choose with --method, or in requests to the server with 'speculative'";
constexpr std::string_view one_place = "a model is computed in one place";
constexpr std::string_view by_length = "a block drafts L tokens";
constexpr std::string_view one_pool = "one number of threads (-t) serves all passes";
constexpr std::string_view one_text = "spectr generate writes one text and ends";
constexpr std::string_view one_attention = "there is one implementation of attention";
constexpr std::string_view unconstrained = "output cannot be constrained";
constexpr std::string_view own_ngrams = "method ngram looks the text's own up";
constexpr std::string_view chat = "spectr chat is the conversation";
constexpr std::string_view width = "spectr sizes its passes itself";
constexpr std::array refused = {
    Refused{"--draft-min", by_length, "0"},
    Refused{"--draft-n-min", by_length, "0"},
    Refused{"--spec-draft-n-min", by_length, "0"},
    Refused{"--draft-p-min", by_law, "0"},
    Refused{"--spec-draft-p-min", by_law, "0"},
    Refused{"--draft-p-split", by_law},
    Refused{"--spec-draft-p-split", by_law},
    Refused{"--spec-type", by_method, "none"},
    Refused{"--spec-draft-sampling", "drafts are always sampled; choose with --method and --plan"},
    Refused{"--spec-synth-len", by_method},
    Refused{"--spec-synth-rates", by_method},
    Refused{"-lcs", own_ngrams},
    Refused{"--lookup-cache-static", own_ngrams},
    Refused{"-lcd", own_ngrams},
    Refused{"--lookup-cache-dynamic", own_ngrams},
    Refused{"-cd", one_setting},
    Refused{"--ctx-size-draft", one_setting},
    Refused{"-td", one_setting},
    Refused{"--threads-draft", one_setting},
    Refused{"-tb", one_pool},
    Refused{"--threads-batch", one_pool},
    Refused{"-tbd", one_pool},
    Refused{"--threads-batch-draft", one_pool},
    Refused{"-b", width, "2048"},
    Refused{"--batch-size", width, "2048"},
    Refused{"-ub", width, "512"},
    Refused{"--ubatch-size", width, "512"},
    Refused{"-cnv", chat},
    Refused{"--conversation", chat},
    Refused{"-st", one_text},
    Refused{"--single-turn", one_text},
    Refused{"-ctkd", one_setting},
    Refused{"--cache-type-k-draft", one_setting},
    Refused{"-ctvd", one_setting},
    Refused{"--cache-type-v-draft", one_setting},
    Refused{"-fa", one_attention, "auto"},
    Refused{"--flash-attn", one_attention, "auto"},
    Refused{"--grammar", unconstrained},
    Refused{"--grammar-file", unconstrained},
    Refused{"--json-schema", unconstrained},
    Refused{"-j", unconstrained},
    Refused{"-jf", unconstrained},
    Refused{"--lora", "adapters are not applied; merge them into the file"},
    Refused{"--samplers", "the order of the filters is fixed"},
    Refused{"-otd", one_place},
    Refused{"--override-tensor-draft", one_place},
    Refused{"--draft-model", "the draft model is given with -md or --model-draft"},
    Refused{"--stop", "words to stop before are given with -r or --reverse-prompt"},
};

// Variables of the same meaning as a flag above.
constexpr std::array refused_variables = {
    Refused{"LLAMA_ARG_SPEC_TYPE", by_method, "none"},
    Refused{"LLAMA_ARG_SPEC_DRAFT_P_MIN", by_law, "0"},
};

/// Variables that ask for what is done anyway, or for what nothing here does.
constexpr std::array<std::string_view, 3> idle_variables = {"LLAMA_ARG_JINJA", "LLAMA_ARG_ENDPOINT_SLOTS",
                                                            "LLAMA_ARG_CONT_BATCHING"};

[[noreturn]] void refuse(std::string_view name, std::string_view reason) {
  throw Failure(Status::usage, fmt::format("{} is not supported: {}", name, reason));
}

/// Whether a flag asks for nothing with this value.
bool is_neutral(const Refused& flag, std::string_view value) {
  if (flag.neutral.empty() || value.empty()) return false;
  return value == flag.neutral ||
         (flag.neutral == "0" && value.find_first_not_of("0.") == std::string_view::npos);
}

/// Whether it looks like an option of one dash with a name of several letters. There is none: the parser
/// would take "-sm" for "-s" with a value.
bool is_long_word_behind_one_dash(std::string_view argument) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return argument.size() > 2 && argument[0] == '-' && letter(argument[1]) && letter(argument[2]);
}

/// The variables that options of the command, and of those below it, read.
void add_variables(const CLI::App& command, std::set<std::string>& names) {
  for (const CLI::Option* option : command.get_options()) names.insert(option->get_envname());
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    add_variables(*one, names);
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

/// Levenshtein's distance: how many letters must be inserted, deleted or replaced to turn `a` into `b`. Cost:
/// the product of their lengths.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> rewrite_legacy_flags(const CLI::App& app, std::vector<std::string> arguments) {
  const CLI::App* command = &app;
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    if (argument == "--") {
      kept.insert(kept.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    if (const CLI::App* const chosen = find_command(*command, argument)) command = chosen;
    if (command->get_prefix_command()) {
      kept.insert(kept.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    const std::string typed = argument.substr(0, argument.find('='));
    for (const auto& [old, now] : aliases) {
      if (argument == old || (typed == old && now.starts_with("--"))) argument.replace(0, old.size(), now);
    }
    if (std::ranges::find(without_effect, argument) != without_effect.end()) continue;
    const std::size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    if (const auto* const found = std::ranges::find(refused, flag, &Refused::name); found != refused.end()) {
      const bool beside = equals == std::string::npos;  // its value is the next argument
      const bool has_value = !beside || i + 1 < arguments.size();
      if (!has_value || !is_neutral(*found, beside ? arguments[i + 1] : argument.substr(equals + 1)))
        refuse(found->name, found->reason);
      i += beside ? 1 : 0;
      continue;
    }
    if (is_long_word_behind_one_dash(argument))
      throw Failure(Status::usage, fmt::format("{} was not expected; see spectr --help", flag));
    kept.push_back(argument);
    if (takes_value(*command, argument) && i + 1 < arguments.size()) kept.push_back(arguments[++i]);
  }
  return kept;
}

void check_variables(const CLI::App& command) {
  const CLI::App* root = &command;
  while (root->get_parent() != nullptr) root = root->get_parent();
  std::set<std::string> known(idle_variables.begin(), idle_variables.end());
  for (const Refused& variable : refused_variables) known.emplace(variable.name);
  add_variables(*root, known);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view setting = *entry;
    const std::string name(setting.substr(0, setting.find('=')));
    if (name.starts_with("LLAMA_ARG_") && name.size() + 1 < setting.size() && !known.contains(name))
      fmt::print(stderr, "{} is not understood, and changes nothing\n", name);
  }
  for (const Refused& variable : refused_variables) {
    const char* value = std::getenv(std::string(variable.name).c_str());
    if (value != nullptr && *value != '\0' && !is_neutral(variable, value))
      refuse(variable.name, variable.reason);
  }
}

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

}  // namespace spectr::cli
