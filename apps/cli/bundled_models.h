#pragma once

#include <filesystem>
#include <string>

#include "spectr/base/result.h"

namespace spectr::cli {

/// The pair of models that comes with the program.
struct BundledPair {
  std::filesystem::path target;
  std::filesystem::path draft;
};

/// Looks in $SPECTR_MODELS, else in share/spectr/models beside the program, else in the source tree.
Result<BundledPair> bundled_pair();

/// The file of prompts that is given, else that of the story openings, data/stories.jsonl: in
/// share/spectr/data beside the program, else in the source tree.
Result<std::filesystem::path> prompts_file(const std::string& given);

}  // namespace spectr::cli
