#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spectr/decode/methods.h"

namespace spectr::cli {

/// --method, --plan, -K, -L, … as they were given.
struct MethodFlags {
  std::optional<std::string> method;  ///< none: the command's default
  std::optional<long> drafts;
  std::optional<long> length;
  MethodOptions options;
  std::optional<std::string> cost_file;

  void add(CLI::App& app);
  /// All but method, plan, K and L: what a method's own settings are.
  void add_settings(CLI::App& app);
  /// The rule of `method`. Where none was given: plain without a draft model, specinfer with several, tree
  /// where a tree, spectr where a plan, K or L was given, else auto. Throws Failure.
  const MethodRule& rule(std::size_t draft_models) const;
  /// The settings with K and L filled in. Throws Failure where one is impossible.
  MethodOptions complete(std::size_t drafts_otherwise, std::size_t length_otherwise) const;
};

}  // namespace spectr::cli
