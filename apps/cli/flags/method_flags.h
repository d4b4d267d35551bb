#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spectr/decode/methods.h"

namespace spectr::cli {

/// Names of -L.
constexpr const char* length_names = "-L,--length,--draft,--draft-max,--draft-n,--spec-draft-n-max";

/// Parses the value of --beam-mode. Throws CLI::ValidationError.
BeamMode beam_mode_of(const std::string& name);

/// The values of --method, --plan, -K, -L, ….
struct MethodFlags {
  MethodRequest request;
  std::optional<std::string> cost_file;

  /// Adds --method, --plan, -K, -L and all settings.
  void add(CLI::App& app);
  /// Adds the settings of methods except those of MTAD, MTJD and BiLD.
  void add_settings(CLI::App& app);
  /// Adds --cost-file and --load, which concern the costs of passes.
  void add_cost_file(CLI::App& app);
  /// Returns the requested method, or a default that fits the other flags. Throws Failure.
  const MethodRule& rule(std::size_t draft_models) const;
};

/// Throws Failure if a method does not support the settings, before models are loaded or costs are measured.
/// Prints on standard error which of -K and -L differ from what the method drafts, and which other settings
/// it does not read.
void check_settings(const MethodRule& rule, const MethodRequest& request, const MethodOptions& settings);

/// Prints on standard error if the output does not have the target's distribution.
void tell_bias(const MethodRule& rule, const MethodOptions& settings);

/// Throws Failure if a method has too few or too many draft models.
void check_drafts(const MethodRule& rule, std::size_t draft_models);

}  // namespace spectr::cli
