#include "apps/server/paths.h"

#include <algorithm>
#include <utility>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

bool is_at(std::string_view asked, std::string_view path) {
  const bool below = path.size() > 1 && path.ends_with('/');
  return below ? asked.starts_with(path) && asked.size() > path.size() : asked == path;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

void Paths::add(std::string path, std::string_view methods) {
  methods_.emplace(std::move(path), methods);
}

void Paths::check(const httplib::Request& request) const {
  if (request.method == "OPTIONS") return;
  const auto found =
      std::ranges::find_if(methods_, [&](const auto& entry) { return is_at(request.path, entry.first); });
  if (found == methods_.end()) throw ApiError::not_found("there is no " + request.path);
  const std::string_view methods = found->second;
  if (methods.find(request.method) == std::string_view::npos) {
    throw ApiError::wrong_method(request.method, request.path, methods);
  }
}

}  // namespace spectr::server
