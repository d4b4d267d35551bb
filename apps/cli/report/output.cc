#include "apps/cli/report/output.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "apps/cli/failure.h"
#include "spectr/base/os/process.h"

namespace spectr::cli {

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_json(const Json& value) {
  const std::string line = text_of(value) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void prepare_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& reason) {
    throw Failure(Status::usage, fmt::format("{}: {}", folder, reason));
  };
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) refuse(failed.message());
  const fs::path probe = fs::path(folder) / fmt::format(".spectr-{}", process_id());
  if (!std::ofstream(probe)) refuse("no file can be written into this folder");
  fs::remove(probe, failed);
}

}  // namespace spectr::cli
