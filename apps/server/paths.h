#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apps/http/handler.h"

namespace spectr::server {

/// Answers what is asked at a path. Throws ApiError.
using Handle = std::function<http::Answer(const http::Request& request, const http::Wake& wake)>;

/// Which paths there are, for which methods, and what answers there.
class Paths {
 public:
  /// `methods` as an Allow header lists them; they must outlive this. A path of several parts that ends in a
  /// slash stands for those below it.
  void add(std::string path, std::string_view methods, Handle handle);

  /// Throws ApiError: with status 404 where there is no such path, with 405 where it is for other methods.
  const Handle& find(const http::Request& request) const;

 private:
  struct Place {
    std::string_view methods;
    Handle handle;
  };
  std::map<std::string, Place> places_;
};

}  // namespace spectr::server
