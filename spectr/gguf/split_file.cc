#include "spectr/gguf/split_file.h"

#include <optional>
#include <string_view>

namespace spectr {
namespace {

/// N where the name ends in -I-of-N with five digits each, as the parts of a split file do, else nullopt.
std::optional<int> parts_by_name(std::string_view name) {
  constexpr std::string_view pattern = "-#####-of-#####.gguf";
  if (name.size() < pattern.size()) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - pattern.size());
  int parts = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool digit = tail[i] >= '0' && tail[i] <= '9';
    if (pattern[i] == '#' ? !digit : tail[i] != pattern[i]) return std::nullopt;
    if (pattern[i] == '#' && i > 6) parts = 10 * parts + (tail[i] - '0');
  }
  return parts;
}

}  // namespace

Result<void> refuse_split(const Gguf& file) {
  SPECTR_TRY(const auto parts, file.integer("split.count", 1));
  const auto named = parts_by_name(file.name());
  if (parts > 1) {
    return error("{}: is one of {} parts (split.count); split files are not supported", file.name(), parts);
  }
  if (named && *named > 1) {
    return error("{}: is one of {} parts by its name; split files are not supported", file.name(), *named);
  }
  return {};
}

}  // namespace spectr
