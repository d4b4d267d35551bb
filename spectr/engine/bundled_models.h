#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// The models that come with the program.
struct BundledModels {
  std::filesystem::path target;
  std::filesystem::path draft;                ///< the usual one
  std::vector<std::filesystem::path> ladder;  ///< drafts from small to large, each about twice the one before
};

/// Looks in $SPECTR_MODELS, else in share/spectr/models beside the program, else in the source tree.
Result<BundledModels> bundled_models();

/// The file of texts that is given with `flag`, else the bundled one of this name: in share/spectr/data
/// beside the program, else in the source tree. Error: it is in neither.
Result<std::filesystem::path> data_file(const std::string& given, std::string_view name,
                                        std::string_view flag);

}  // namespace spectr
