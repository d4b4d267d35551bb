#include "spectr/engine/bundled_models.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <optional>
#include <ranges>
#include <system_error>
#include <vector>

#include "spectr/base/os/process.h"

namespace spectr {

namespace {

namespace fs = std::filesystem;

/// Returns share/spectr in the program's installation.
std::optional<fs::path> installed() {
  const Result<fs::path> program = program_path();
  if (!program) return std::nullopt;
  return program->parent_path().parent_path() / "share" / "spectr";
}

}  // namespace

Result<fs::path> data_file(const std::string& given, std::string_view name, std::string_view flag) {
  if (!given.empty()) return given;
  std::vector<fs::path> files;
  if (const auto share = installed()) files.push_back(*share / "data" / name);
  files.push_back(fs::path(SPECTR_SOURCE_DATA) / name);
  for (const fs::path& file : files) {
    std::error_code failed;
    if (fs::exists(file, failed)) return file;
  }
  return error("the bundled {} is not there (looked for {}); name a file with {}", name,
               fmt::join(files | std::views::transform([](const fs::path& f) { return f.string(); }), ", "),
               flag);
}

Result<BundledModels> bundled_models() {
  std::vector<fs::path> folders;
  if (const char* chosen = std::getenv("SPECTR_MODELS"); chosen != nullptr && *chosen != '\0') {
    folders = {chosen};
  } else {
    if (const auto share = installed()) folders.push_back(*share / "models");
    folders.emplace_back(SPECTR_SOURCE_MODELS);
  }
  std::string looked;
  for (const fs::path& folder : folders) {
    BundledModels models{
        folder / "spectr-stories-7m-q8_0.gguf",
        folder / "spectr-stories-draft-0.6m-q8_0.gguf",
        {folder / "spectr-stories-draft-0.3m-f16.gguf", folder / "spectr-stories-draft-0.6m-f16.gguf",
         folder / "spectr-stories-draft-1.2m-f16.gguf"}};
    std::error_code failed;
    if (fs::exists(models.target, failed) && fs::exists(models.draft, failed)) return models;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  return error("the bundled models are not there (looked in {}); name a model with -m", looked);
}

Result<fs::path> trainer_folder() {
  std::vector<fs::path> folders;
  if (const auto share = installed()) folders.push_back(*share / "spectr_train");
  folders.emplace_back(SPECTR_SOURCE_TRAINER);
  for (const fs::path& folder : folders) {
    std::error_code failed;
    if (fs::exists(folder / "__main__.py", failed)) return folder;
  }
  return error(
      "the program that trains drafters is not there (looked for {})",
      fmt::join(folders | std::views::transform([](const fs::path& f) { return f.string(); }), ", "));
}

}  // namespace spectr
