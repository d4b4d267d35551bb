#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "spectr/sampling/warp.h"

namespace spectr::cli {

/// --temp, --top-k, … as they were given.
struct SamplingFlags {
  WarpOptions options;
  std::vector<std::string> biases;  ///< "ID+B" or "ID-B"

  void add(CLI::App& app);
  /// All but the biases.
  void add_filters(CLI::App& app);
  /// Throws Failure naming the flag that is out of range.
  Warp warp() const;
};

/// Throws Failure where a bias is that of a token outside the vocabulary.
void check_biases(const Warp& warp, std::size_t vocabulary);

}  // namespace spectr::cli
