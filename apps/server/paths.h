#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apps/http/handler.h"

namespace spectr::server {

/// Handles the requests to a path. Throws ApiError.
using Handle = std::function<http::Answer(const http::Request& request, const http::Wake& wake)>;

/// Maps paths and methods to handlers.
class Paths {
 public:
  /// Adds a path. `methods` has the format of an Allow header and must outlive this. A path of several parts
  /// that ends in a slash matches all paths below it.
  void add(std::string path, std::string_view methods, Handle handle);

  /// Returns the handler. Throws ApiError with status 404 for an unknown path and 405 for a wrong method.
  const Handle& find(const http::Request& request) const;

 private:
  struct Endpoint {
    std::string_view methods;
    Handle handle;
  };
  std::map<std::string, Endpoint> endpoints_;
};

}  // namespace spectr::server
