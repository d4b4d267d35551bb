#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spectr/decode/methods.h"

namespace spectr::cli {

/// What -L is called.
constexpr const char* length_names = "-L,--length,--draft,--draft-max,--draft-n,--spec-draft-n-max";

/// --method, --plan, -K, -L, … as they were given.
struct MethodFlags {
  std::optional<std::string> method;  ///< none: the command's default
  std::optional<std::size_t> drafts;
  std::optional<std::size_t> length;
  MethodOptions options;
  std::optional<std::string> cost_file;

  /// --method, --plan, -K, -L and the settings.
  void add(CLI::App& app);
  /// What a method's own settings are.
  void add_settings(CLI::App& app);
  /// --cost-file, where costs of passes are read.
  void add_cost_file(CLI::App& app);
  /// The rule of `method`. Where none was given: plain without a draft model, specinfer with several, tree
  /// where a tree, spectr where a plan, K or L was given, else auto. Throws Failure.
  const MethodRule& rule(std::size_t draft_models) const;
  /// The settings with K and L filled in.
  MethodOptions complete(std::size_t drafts_otherwise, std::size_t length_otherwise) const;
};

/// Throws Failure where a method has no draft model to work with, or more than it can.
void check_drafts(const MethodRule& rule, std::size_t draft_models);

}  // namespace spectr::cli
