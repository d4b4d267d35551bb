#include "tests/support/data.h"

#include <cstdlib>

namespace spectr {

// Only this file contains the build's paths, so all others compile to the same code in any location.
std::filesystem::path source_folder() {
  const char* const elsewhere = std::getenv("SPECTR_SOURCE_DIR");
  return elsewhere != nullptr ? elsewhere : SPECTR_SOURCE_DIR;
}

std::filesystem::path extra_data_folder() {
  return SPECTR_EXTRA_DATA;
}

std::string spectr_program() {
  return SPECTR_PROGRAM;
}

std::string two_boards_folder() {
  return TWO_BOARDS;
}

std::string slow_network() {
  return SLOW_NETWORK;
}

std::string late_ranks() {
  return LATE_RANKS;
}

std::string mock_cuda_folder() {
  return MOCK_CUDA;
}

std::optional<std::filesystem::path> find_data(std::string_view name) {
  for (const auto& folder : {source_folder() / "tests/data", source_folder(), extra_data_folder()}) {
    std::filesystem::path path = folder / name;
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

}  // namespace spectr
