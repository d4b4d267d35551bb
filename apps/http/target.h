#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spectr::http {

/// What the first line of a request asks for.
struct Target {
  std::string path;                      ///< percent signs decoded, without a query; "*" is one
  std::string query;                     ///< behind the question mark, as it was sent
  std::optional<std::string> authority;  ///< host and port, where the target tells them
};

/// Reads "/path?query", "http://host:port/path?query" or "*" (RFC 9112, section 3.2); none where it is
/// neither.
std::optional<Target> read_target(std::string_view target);

/// The value of a name in a query of the form "name=value&name=value", percent signs decoded. None: the query
/// does not have the name.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace spectr::http
