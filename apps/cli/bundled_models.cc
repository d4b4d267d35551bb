#include "apps/cli/bundled_models.h"

#include <cstdlib>
#include <system_error>
#include <vector>

namespace spectr::cli {

Result<BundledPair> bundled_pair() {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  if (const char* chosen = std::getenv("SPECTR_MODELS"); chosen != nullptr && *chosen != '\0') {
    folders = {chosen};
  } else {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    if (!failed) folders.push_back(program.parent_path().parent_path() / "share" / "spectr" / "models");
    folders.emplace_back(SPECTR_SOURCE_MODELS);
  }
  std::string looked;
  for (const fs::path& folder : folders) {
    const BundledPair pair{folder / "spectr-stories-7m-q8_0.gguf",
                           folder / "spectr-stories-draft-0.6m-q8_0.gguf"};
    std::error_code failed;
    if (fs::exists(pair.target, failed) && fs::exists(pair.draft, failed)) return pair;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  return error("the bundled models are not there (looked in {}); name a model with -m", looked);
}

Result<std::filesystem::path> bundled_prompts() {
  SPECTR_TRY(const BundledPair pair, bundled_pair());
  const auto file = pair.target.parent_path().parent_path() / "data" / "stories.jsonl";
  std::error_code failed;
  if (std::filesystem::exists(file, failed)) return file;
  return error("the bundled prompts are not there (looked for {}); name a file with --prompts",
               file.string());
}

}  // namespace spectr::cli
