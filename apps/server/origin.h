#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/http/message.h"

namespace spectr::server {

/// A host as in a Host header or an origin: "name", "name:port", "[::1]:port".
struct HostName {
  std::string name;         ///< an IPv6 address in brackets
  std::optional<int> port;  ///< none: the scheme's default

  /// Parses a host; a bare IPv6 address gets brackets. Returns nothing if it is malformed.
  static std::optional<HostName> read(std::string_view text);
};

/// Returns true if a server bound to `host` is reachable only from this machine: "localhost" or a loopback
/// address in any notation, with or without brackets.
bool is_loopback(std::string_view host);

/// Returns true if a text is a valid origin: "scheme://host" or "scheme://host:port",
/// without a path.
bool is_origin(std::string_view text);

/// Access policy for pages of other origins. By default, none have access.
class Origins {
 public:
  /// `host` is the address that the server is bound to. `names` are hosts that a server on a loopback address
  /// answers to in addition to local names; a port restricts one to that port. `allowed` are origins,
  /// "localhost" for those of this machine, or "*" for all.
  Origins(const std::string& host, std::vector<std::string> names, std::vector<std::string> allowed);

  /// Throws ApiError if the request comes from a page of a foreign origin. A server on a loopback address
  /// also rejects unknown host names (DNS rebinding).
  void check(const http::Request& request) const;
  /// Returns the CORS headers that permit the page to read the answer, if it may.
  http::Headers permission(const http::Request& request) const;

 private:
  bool answers_to(const HostName& host) const;
  bool allows(std::string_view origin) const;

  bool local_;
  std::vector<std::string> names_;
  std::vector<std::string> allowed_;
};

}  // namespace spectr::server
