#pragma once

#include <filesystem>

#include "spectr/base/result.h"

namespace spectr::cli {

/// The pair of models that comes with the program.
struct BundledPair {
  std::filesystem::path target;
  std::filesystem::path draft;
};

/// Looks in $SPECTR_MODELS, else in share/spectr/models beside the program, else in the source tree.
Result<BundledPair> bundled_pair();

/// The file of story openings, data/stories.jsonl: in share/spectr/data beside the program, else in the
/// source tree.
Result<std::filesystem::path> bundled_stories();

}  // namespace spectr::cli
