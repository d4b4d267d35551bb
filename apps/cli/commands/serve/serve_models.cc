#include "apps/cli/commands/serve/serve_models.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "apps/cli/failure.h"
#include "apps/cli/flags/arguments.h"
#include "apps/cli/flags/hints.h"
#include "apps/cli/flags/llama_flags.h"
#include "apps/cli/flags/word_lists.h"
#include "apps/support/open_file.h"
#include "spectr/base/names.h"
#include "spectr/engine/model_caches.h"

namespace spectr::cli {
namespace {

using Words = std::vector<std::string>;

/// A model with the place where it was found, for clients.
struct FoundModel {
  ModelPreset preset;
  std::string source;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  return text.substr(0, text.find_last_not_of(blank) + 1);
}

bool is_yes(std::string_view value) {
  return value == "true" || value == "1" || value == "on" || value == "enabled";
}

/// Returns true if an option was given on the command line and not by its variable.
bool is_typed(const CLI::App& command, const CLI::Option& option) {
  return std::ranges::find(command.parse_order(), &option) != command.parse_order().end();
}

/// Returns true if an option concerns the server and none of its models.
bool is_of_server(const CLI::Option& option) {
  return option.get_group() == network_group || option.get_group() == models_group;
}

/// Returns the options of the command line that models inherit, as arguments.
Words inherited(const CLI::App& command) {
  Words arguments;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_typed(command, *option) || is_of_server(*option)) continue;
    for (const std::string& value : option->results()) {
      if (option->get_lnames().empty()) {
        arguments.insert(arguments.end(), {"-" + option->get_snames().front(), value});
      } else {
        arguments.push_back("--" + option->get_lnames().front() + "=" + value);
      }
    }
  }
  return arguments;
}

/// Returns the flag that a key of a preset means: a name without its dashes, or a variable.
std::string flag_of(const std::string& key, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_envname() == key && !option->get_lnames().empty())
      return "--" + option->get_lnames().front();
  }
  const std::string name = "--" + key;
  const auto is_named = [&](const LlamaFlags& row) { return has_word(row.names, name); };
  const bool is_long =
      command.get_option_no_throw(name) != nullptr || std::ranges::any_of(llama_flags(), is_named);
  return key.size() > 1 && is_long ? name : "-" + key;
}

/// Returns the settings of a preset as arguments.
Words arguments_of(const ModelPreset& preset, const CLI::App& command) {
  Words arguments;
  for (const auto& [key, value] : preset.settings) {
    const std::string flag = flag_of(key, command);
    const bool is_switch = count_values(command, {flag, value}, 0) == 0;
    if (is_switch && !is_yes(value)) continue;
    arguments.push_back(flag);
    if (!is_switch) arguments.push_back(value);
  }
  return arguments;
}

/// Removes arguments that the command line overrides. Throws Failure for flags that no model has for itself.
Words without_overridden(const Words& arguments, const CLI::App& command) {
  Words kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t values = count_values(command, arguments, i);
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option != nullptr && is_of_server(*option))
      throw Failure(Status::usage, name + " is a flag of the server, not of a model");
    if (option == nullptr || !is_typed(command, *option)) {
      for (std::size_t k = i; k <= i + values; ++k) kept.push_back(arguments[k]);
    }
    i += values;
  }
  return kept;
}

/// Reads the flags of one model as those of a command line of its own.
server::ServiceOptions options_of(const ModelPreset& preset, const CLI::App& command) {
  CLI::App app("", "spectr");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  const auto flags = std::make_shared<ServeFlags>();
  CLI::App& serve = *app.add_subcommand("serve", "");
  flags->add(serve);
  read_old_variables(app);
  for (CLI::Option* option : serve.get_options()) {
    if (is_of_server(*option)) option->envname("");  // the server has read its variable
  }
  const auto rewritten = [&app](Words arguments) {
    arguments.insert(arguments.begin(), "serve");
    Rewritten read = rewrite_legacy_flags(app, arguments);
    for (const std::string& note : read.notes) fmt::print(stderr, "{}\n", note);
    return read.arguments;
  };
  Words own = rewritten(arguments_of(preset, command));
  own.erase(own.begin());
  own = without_overridden(own, command);
  Words all = inherited(command);
  all.insert(all.begin(), "serve");
  all.insert(all.end(), own.begin(), own.end());
  try {
    Words reversed(all.rbegin(), all.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& failure) {
    throw Failure(Status::usage, explain(app, all, failure));
  }
  if (flags->model.model.empty()) throw Failure(Status::usage, "no model is named (model = FILE)");
  return service_options(*flags);
}

/// Removes a setting that is not a flag. Returns its value, or nothing if there is none.
std::optional<std::string> take_setting(ModelPreset& preset, std::string_view key) {
  std::optional<std::string> value;
  std::erase_if(preset.settings, [&](const auto& setting) {
    if (setting.first != key) return false;
    value = setting.second;
    return true;
  });
  return value;
}

bool has_setting(const ModelPreset& preset, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(preset.settings, [keys](const auto& setting) {
    return std::ranges::find(keys, setting.first) != keys.end();
  });
}

/// Adds the files of a folder to the presets of the same names.
void add_folder(const std::string& folder, std::vector<FoundModel>& models) {
  for (const FolderModel& file : need(list_folder(folder))) {
    auto found = std::ranges::find(models, file.name, [](const FoundModel& one) { return one.preset.name; });
    if (found == models.end()) found = models.insert(models.end(), FoundModel{{file.name}, "models_dir"});
    ModelPreset& preset = found->preset;
    const bool names_model =
        has_setting(preset, {"model", "m", "LLAMA_ARG_MODEL", "hf-repo", "hf", "hfr", "LLAMA_ARG_HF_REPO",
                             "model-url", "mu", "LLAMA_ARG_MODEL_URL"});
    if (names_model) continue;
    preset.settings.emplace_back("model", file.path.string());
    if (!file.draft.empty() && !has_setting(preset, {"model-draft", "md", "LLAMA_ARG_SPEC_DRAFT_MODEL"}))
      preset.settings.emplace_back("model-draft", file.draft.string());
  }
}

/// Returns the presets of the file, each after the settings of its section "*", which it overrides.
std::vector<FoundModel> read_file(const std::string& path) {
  std::vector<ModelPreset> presets = need(read_presets(path));
  ModelPreset shared;
  std::erase_if(presets, [&shared](const ModelPreset& preset) {
    if (preset.name == "*") shared = preset;
    return preset.name == "*";
  });
  std::vector<FoundModel> models;
  for (ModelPreset& preset : presets) {
    preset.settings.insert(preset.settings.begin(), shared.settings.begin(), shared.settings.end());
    models.push_back({std::move(preset), "preset"});
  }
  return models;
}

void check_names(const std::vector<server::ServiceOptions>& models) {
  std::set<std::string> names;
  for (const server::ServiceOptions& model : models) {
    Words own = model.aliases;
    own.push_back(model.name);
    for (const std::string& name : own) {
      if (!names.insert(name).second)
        throw Failure(Status::usage, fmt::format("two models are called {}", escape(name)));
    }
  }
}

}  // namespace

Result<std::vector<ModelPreset>> read_presets(const std::filesystem::path& path) {
  SPECTR_TRY(std::ifstream file, open_file(path));
  std::vector<ModelPreset> presets;
  std::size_t number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    const std::string_view line = trimmed(text);
    if (line.empty() || line[0] == ';' || line[0] == '#') continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      const std::string name(trimmed(line.substr(1, line.size() - 2)));
      if (name.empty()) return error("{}: line {}: the section has no name", path.string(), number);
      if (std::ranges::find(presets, name, &ModelPreset::name) != presets.end())
        return error("{}: line {}: there are two sections [{}]", path.string(), number, escape(name));
      presets.push_back({name});
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return error("{}: line {}: neither [NAME] nor KEY = VALUE", path.string(), number);
    if (presets.empty()) continue;
    presets.back().settings.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
  if (file.bad()) return error(ErrorCode::io, "{}: cannot be read", path.string());
  return presets;
}

std::vector<server::ServiceOptions> several_models(const ServeFlags& flags, const CLI::App& command) {
  if (!flags.model.model.empty())
    throw Failure(Status::usage, "-m is not given together with --models-dir or --models-preset");
  if (flags.model.load_options().sharing)
    throw Failure(Status::usage, "ranks share one model: --shard does not go with several models");
  if (!flags.aliases.empty())
    throw Failure(Status::usage, "--alias names one model; give it in the sections of --models-preset");
  std::vector<FoundModel> found;
  if (!flags.models_preset.empty()) found = read_file(flags.models_preset);
  if (!flags.models_folder.empty()) add_folder(flags.models_folder, found);
  std::vector<server::ServiceOptions> models;
  std::size_t starting = 0;
  for (FoundModel& model : found) {
    const std::string name = model.preset.name;
    try {
      const auto starts = take_setting(model.preset, "load-on-startup");
      take_setting(model.preset, "stop-timeout");  // an unloaded model always finishes its requests
      server::ServiceOptions options = options_of(model.preset, command);
      options.name = name;
      options.source = model.source;
      options.loads_at_start = starts && is_yes(*starts);
      starting += options.loads_at_start ? 1 : 0;
      models.push_back(std::move(options));
    } catch (const Failure& failure) {
      throw Failure(failure.status(), fmt::format("model [{}]: {}", escape(name), failure.what()));
    }
  }
  if (models.empty()) throw Failure(Status::usage, "--models-dir and --models-preset name no model");
  if (flags.max_models > 0 && starting > static_cast<std::size_t>(flags.max_models)) {
    throw Failure(Status::usage, fmt::format("load-on-startup is set for {} models, but --models-max is {}",
                                             starting, flags.max_models));
  }
  check_names(models);
  return models;
}

}  // namespace spectr::cli
