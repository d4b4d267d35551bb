#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spectr/decode/methods.h"

namespace spectr::cli {

/// What -L is called.
constexpr const char* length_names = "-L,--length,--draft,--draft-max,--draft-n,--spec-draft-n-max";

/// The value of --beam-mode. Throws CLI::ValidationError.
BeamMode beam_mode_of(const std::string& name);

/// --method, --plan, -K, -L, … as they were given.
struct MethodFlags {
  MethodRequest request;
  std::optional<std::string> cost_file;

  /// --method, --plan, -K, -L and all settings.
  void add(CLI::App& app);
  /// What a method's own settings are, but for those of MTAD, MTJD and BiLD.
  void add_settings(CLI::App& app);
  /// --cost-file, where costs of passes are read.
  void add_cost_file(CLI::App& app);
  /// The method that was asked for, or what fits the rest; `costs_known`: what passes cost can be known.
  /// Throws Failure.
  const MethodRule& rule(std::size_t draft_models, bool costs_known = true) const;
};

/// Throws Failure where a method cannot have these settings: before models are loaded or costs are measured.
/// Tells on standard error which of -K and -L were given but are not what the method drafts, and which other
/// settings it does not read.
void check_settings(const MethodRule& rule, const MethodRequest& request, const MethodOptions& settings);

/// Tells on standard error where the output's distribution is not the target's.
void tell_bias(const MethodRule& rule, const MethodOptions& settings);

/// Throws Failure where a method has no draft model to work with, or more than it can.
void check_drafts(const MethodRule& rule, std::size_t draft_models);

}  // namespace spectr::cli
