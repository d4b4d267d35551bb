#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "spectr/sampling/warp.h"

namespace spectr::cli {

/// --temp, --top-k, … as they were given.
struct SamplingFlags {
  WarpOptions options;
  std::vector<std::string> biases = {};             ///< "ID+B" or "ID-B"
  std::optional<std::string> samplers = {};         ///< "NAME;NAME;…"
  std::optional<std::string> sampler_letters = {};  ///< the same as letters
  std::vector<std::string> breakers = {};           ///< of --dry-sequence-breaker

  /// Filters, penalties and biases.
  void add(CLI::App& app);
  /// Applies penalties without biases.
  void add_filters(CLI::App& app);
  /// The other samplers of llama.cpp, and their order.
  void add_samplers(CLI::App& app);
  /// Throws Failure naming the flag that is out of range.
  Warp warp() const;
  /// The options as they were given: the warp's own have every sampler off that is not applied. Throws
  /// Failure as warp().
  WarpOptions given_options() const;

 private:
  WarpOptions complete() const;
};

/// Throws Failure where a bias is that of a token outside the vocabulary.
void check_biases(const Warp& warp, std::size_t vocabulary);

}  // namespace spectr::cli
