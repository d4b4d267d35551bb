#include "tests/support/data.h"

namespace spectr {

std::optional<std::filesystem::path> find_data(std::string_view name) {
  for (const char* folder : {SPECTR_SOURCE_DIR "/tests/data", SPECTR_SOURCE_DIR, SPECTR_EXTRA_DATA}) {
    std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

}  // namespace spectr
