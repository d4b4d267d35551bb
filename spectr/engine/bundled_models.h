#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// The models that are distributed with the program.
struct BundledModels {
  std::filesystem::path target;
  std::filesystem::path draft;                ///< default draft model
  std::vector<std::filesystem::path> ladder;  ///< drafts, small to large, each about twice the previous
};

/// Searches $SPECTR_MODELS, else share/spectr/models of the installation, else the source tree.
Result<BundledModels> bundled_models();

/// Returns the text file that is given with `flag`, else the bundled one of this name: in share/spectr/data
/// of the installation, else in the source tree. Fails if neither has it.
Result<std::filesystem::path> data_file(const std::string& given, std::string_view name,
                                        std::string_view flag);

/// Returns the folder of the Python program that trains drafters: share/spectr/spectr_train of the
/// installation, else the one in the source tree. Fails if neither exists.
Result<std::filesystem::path> trainer_folder();

}  // namespace spectr
