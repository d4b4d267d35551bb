#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/http/message.h"

namespace spectr::server {

/// Whether a browser may call a page's origin so: "scheme://host" or "scheme://host:port", and nothing
/// behind.
bool is_origin(std::string_view text);

/// What pages of other origins may do: nothing, unless an origin is named.
class Origins {
 public:
  /// host: the address that the server is bound to; names: what a server on a local address answers to
  /// besides the local names; allowed: origins, or "*" for any.
  Origins(const std::string& host, std::vector<std::string> names, std::vector<std::string> allowed);

  /// Throws ApiError where a page of a foreign origin asks, also one that calls itself by a name that leads
  /// to this machine while the server is bound to the local address only.
  void check(const http::Request& request) const;
  /// What tells the browser that the page may read the answer, where it may.
  http::Headers permission(const http::Request& request) const;

 private:
  bool answers_to(std::string_view name) const;
  bool allows(std::string_view origin) const;

  bool local_;
  std::vector<std::string> names_;
  std::vector<std::string> allowed_;
};

}  // namespace spectr::server
