#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <random>
#include <string>
#include <string_view>

namespace spectr {

/// Returns a name in the folder of `path` that no other writer of the same file has, for contents that are
/// renamed to `path` when they are complete. Containers that share the folder have process ids of their own,
/// so that a random number belongs to it.
inline std::string temporary_name(std::string_view path) {
  return fmt::format("{}.{}-{:08x}", path, getpid(), std::random_device{}());
}

}  // namespace spectr
