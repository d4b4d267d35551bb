#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spectr/sampling/warp.h"

namespace spectr::cli {

/// The values of --temp, --top-k, …: the flags of the table of settings of sampling, and those with lists of
/// their own form.
struct SamplingFlags {
  WarpOptions options;
  std::vector<std::string> biases = {};             ///< "ID+B" or "ID-B"
  std::optional<std::string> samplers = {};         ///< "NAME;NAME;…"
  std::optional<std::string> sampler_letters = {};  ///< the same as single letters

  /// Adds filters, penalties and biases.
  void add(CLI::App& app);
  /// Adds filters and penalties without biases.
  void add_filters(CLI::App& app);
  /// Adds llama.cpp's other samplers and their order.
  void add_samplers(CLI::App& app);
  /// Throws Failure naming the flag that is out of range.
  Warp warp() const;
  /// Returns the options as given; those of warp() disable every sampler that is not applied. Throws
  /// Failure like warp().
  WarpOptions given_options() const;

 private:
  /// Adds the flags of the settings that are basic, or of the others.
  void add_settings(CLI::App& app, bool basic);
  WarpOptions complete() const;
};

/// Throws Failure if a bias is for a token outside the vocabulary.
void check_biases(const Warp& warp, std::size_t vocabulary);

}  // namespace spectr::cli
