#include "apps/server/paths.h"

#include <algorithm>
#include <utility>

#include "apps/server/api_error.h"
#include "spectr/base/names.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_path = 200;  // bytes quoted in a message

bool is_at(std::string_view asked, std::string_view path) {
  const bool below = path.size() > 1 && path.ends_with('/');
  return below ? asked.starts_with(path) && asked.size() > path.size() : asked == path;
}

/// Returns true if a list such as "GET, HEAD" contains the method.
bool has(std::string_view methods, std::string_view method) {
  constexpr std::string_view between = ", ";
  for (std::size_t begin = 0; begin <= methods.size();) {
    const std::size_t end = std::min(methods.find(between, begin), methods.size());
    if (methods.substr(begin, end - begin) == method) return true;
    begin = end + between.size();
  }
  return false;
}

}  // namespace

void Paths::add(std::string path, std::string_view methods, Handle handle) {
  endpoints_.emplace(std::move(path), Endpoint{methods, std::move(handle)});
}

const Handle& Paths::find(const http::Request& request) const {
  const auto found =
      std::ranges::find_if(endpoints_, [&](const auto& entry) { return is_at(request.path, entry.first); });
  if (found == endpoints_.end()) throw ApiError::not_found("there is no " + escape(request.path, max_path));
  const Endpoint& endpoint = found->second;
  if (!has(endpoint.methods, request.method))
    throw ApiError::wrong_method(request.method, request.path, endpoint.methods);
  return endpoint.handle;
}

}  // namespace spectr::server
