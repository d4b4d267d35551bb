#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>

#include "spectr/base/os/process.h"

namespace spectr {

/// Returns a name in the folder of `path` that no other writer of the same file uses, for contents that are
/// renamed to `path` once complete. Containers that share the folder have separate process ids, so the name
/// also has a random number.
inline std::string temporary_name(std::string_view path) {
  return fmt::format("{}.{}-{:08x}", path, process_id(), std::random_device{}());
}

}  // namespace spectr
