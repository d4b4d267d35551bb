#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/commands/serve/serve_flags.h"
#include "apps/server/service.h"
#include "spectr/base/result.h"

namespace spectr::cli {

/// A section of a preset file: a model's name and its flags with their values, in order.
struct ModelPreset {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings = {};
};

/// Reads a preset file in llama.cpp's form: "[NAME]" begins a section, "KEY = VALUE" is a flag without its
/// dashes, and lines that begin with ; or # are comments. Settings before the first section are ignored.
/// Fails on other lines and on a name that occurs twice.
Result<std::vector<ModelPreset>> read_presets(const std::filesystem::path& path);

/// Returns the options of the models of --models-dir and --models-preset. A flag is taken from the command
/// line, or else from the model's section, the section "*", or a variable. Throws Failure.
std::vector<server::ServiceOptions> several_models(const ServeFlags& flags, const CLI::App& command);

}  // namespace spectr::cli
