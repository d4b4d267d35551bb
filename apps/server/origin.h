#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/http/message.h"

namespace spectr::server {

/// A host as a Host header or an origin writes it: "name", "name:port", "[::1]:port".
struct HostName {
  std::string name;         ///< an IPv6 address in brackets
  std::optional<int> port;  ///< none: the default of whatever scheme

  /// None: no client ever sends such a host. A bare IPv6 address gets its brackets.
  static std::optional<HostName> read(std::string_view text);
};

/// Whether this machine alone can reach a server that is bound to `host`: "localhost", or a loopback address
/// in any spelling, with brackets or without.
bool is_loopback(std::string_view host);

/// Whether a browser may call a page's origin so: "scheme://host" or "scheme://host:port", and nothing
/// behind.
bool is_origin(std::string_view text);

/// What pages of other origins may do: nothing, unless an origin is named.
class Origins {
 public:
  /// host: the address that the server is bound to; names: the hosts that a server on a local address answers
  /// to besides the local names, with a port only to that port; allowed: origins, "localhost" for those of
  /// this machine, or "*" for any.
  Origins(const std::string& host, std::vector<std::string> names, std::vector<std::string> allowed);

  /// Throws ApiError where a page of a foreign origin asks, also one that calls itself by a name that leads
  /// to this machine while the server is bound to the local address only.
  void check(const http::Request& request) const;
  /// What tells the browser that the page may read the answer, where it may.
  http::Headers permission(const http::Request& request) const;

 private:
  bool answers_to(const HostName& host) const;
  bool allows(std::string_view origin) const;

  bool local_;
  std::vector<std::string> names_;
  std::vector<std::string> allowed_;
};

}  // namespace spectr::server
