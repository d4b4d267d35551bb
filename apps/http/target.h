#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spectr::http {

/// What the first line of a request asks for.
struct Target {
  std::string path;                      ///< percent signs decoded, without a query; "*" is one
  std::optional<std::string> authority;  ///< host and port, where the target tells them
};

/// Reads "/path?query", "http://host:port/path?query" or "*" (RFC 9112, section 3.2); none where it is
/// neither.
std::optional<Target> read_target(std::string_view target);

}  // namespace spectr::http
