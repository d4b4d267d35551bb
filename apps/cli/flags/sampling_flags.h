#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spectr/sampling/warp.h"

namespace spectr::cli {

/// The values of --temp, --top-k, ….
struct SamplingFlags {
  WarpOptions options;
  std::vector<std::string> biases = {};             ///< "ID+B" or "ID-B"
  std::optional<std::string> samplers = {};         ///< "NAME;NAME;…"
  std::optional<std::string> sampler_letters = {};  ///< the same as single letters
  std::vector<std::string> breakers = {};           ///< values of --dry-sequence-breaker

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
  WarpOptions complete() const;
};

/// Throws Failure if a bias is for a token outside the vocabulary.
void check_biases(const Warp& warp, std::size_t vocabulary);

}  // namespace spectr::cli
