#include "apps/cli/result_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "apps/cli/failure.h"

namespace spectr::cli {

void prepare_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& reason) {
    throw Failure(Status::usage, fmt::format("{}: {}", folder, reason));
  };
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) refuse(failed.message());
  const fs::path probe = fs::path(folder) / fmt::format(".spectr-{}", getpid());
  if (!std::ofstream(probe)) refuse("no file can be written into this folder");
  fs::remove(probe, failed);
}

}  // namespace spectr::cli
