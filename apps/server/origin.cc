#include "apps/server/origin.h"

#include <algorithm>
#include <utility>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

constexpr std::string_view local_names[] = {"localhost", "127.0.0.1", "[::1]", "::1"};

bool is_local(std::string_view name) {
  return std::ranges::find(local_names, name) != std::end(local_names);
}

/// "name:port" without the port.
std::string_view name_of(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool port = colon != std::string_view::npos && (host.back() != ']') && host.find(':') == colon;
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return port ? host.substr(0, colon) : host;
}

}  // namespace

Origins::Origins(const std::string& host, std::string allowed)
    : local_(is_local(host)), allowed_(std::move(allowed)) {}

void Origins::check(const httplib::Request& request) const {
  const std::string host = request.get_header_value("Host"), origin = request.get_header_value("Origin");
  if (local_ && !host.empty() && !is_local(name_of(host))) {
    throw ApiError::forbidden("the server answers to local names only");
  }
  if (origin.empty() || allows(origin)) return;
  if (origin != "http://" + host && origin != "https://" + host) {
    throw ApiError::forbidden("pages of other origins are not answered; start the server with --cors ORIGIN");
  }
}

void Origins::permit(const httplib::Request& request, httplib::Response& response) const {
  const std::string origin = request.get_header_value("Origin");
  if (allowed_.empty() || origin.empty() || !allows(origin)) return;
  response.set_header("Access-Control-Allow-Origin", allowed_);
  response.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Api-Key");
  response.set_header("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  if (allowed_ != "*") response.set_header("Vary", "Origin");
}

}  // namespace spectr::server
