#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/flags/model_flags.h"

namespace spectr::cli {

/// Settings of training data for a drafter.
struct FeatureFlags {
  ModelFlags model;
  std::vector<std::string> texts;
  std::string output;
  std::vector<std::size_t> layers;     ///< empty: see default_layers()
  std::size_t length = 256;            ///< maximum tokens of a sequence
  std::optional<std::size_t> opening;  ///< given tokens, after which the target writes; none: all are given
  std::size_t count = 0;               ///< sequences; 0: one for each piece of the texts
  std::size_t top = 64;                ///< probabilities per token
  std::uint64_t seed = 0;
  std::string type = "bf16";  ///< of the features: bf16 or f32

  /// Adds the flags, except for the output's.
  void add(CLI::App& command);
};

/// Has the target write or score sequences and appends them to the file until it is complete. Throws Failure.
void write_features(const FeatureFlags& flags);

}  // namespace spectr::cli
