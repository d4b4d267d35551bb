#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spectr::http {

/// A request target (RFC 9112, section 3.2).
struct Target {
  std::string path;                      ///< percent-decoded, without the query; may be "*"
  std::string query;                     ///< after the question mark, not decoded
  std::optional<std::string> authority;  ///< host and port, if the target has them
};

/// Parses "/path?query", "http://host:port/path?query" or "*" (RFC 9112, section 3.2). Returns nothing for
/// any other form.
std::optional<Target> read_target(std::string_view target);

/// Returns the percent-decoded value of a name in a query of the form "name=value&name=value", or nothing if
/// the query does not have the name.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace spectr::http
