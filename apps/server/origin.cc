#include "apps/server/origin.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

using http::same_name;

/// "localhost", and addresses of this machine's own network in any spelling, with brackets or without.
bool is_local(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const std::string address(name);
  if (in_addr v4{}; inet_aton(address.c_str(), &v4) != 0) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr v6{};
  return same_name(name, "localhost") ||
         (inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

/// "name:port" without the port.
std::string_view name_of(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool port = colon != std::string_view::npos && (host.back() != ']') && host.find(':') == colon;
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return port ? host.substr(0, colon) : host;
}

}  // namespace

bool is_origin(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view host = text.substr(colon + 3);
  return !host.empty() && host.find_first_of("/?#@ \t") == std::string_view::npos;
}

Origins::Origins(const std::string& host, std::vector<std::string> names, std::vector<std::string> allowed)
    : local_(is_local(host)), names_(std::move(names)), allowed_(std::move(allowed)) {}

bool Origins::answers_to(std::string_view name) const {
  return !local_ || is_local(name) ||
         std::ranges::any_of(names_, [&](const std::string& known) { return same_name(known, name); });
}

bool Origins::allows(std::string_view origin) const {
  return std::ranges::any_of(allowed_,
                             [&](const std::string& one) { return one == "*" || same_name(one, origin); });
}

void Origins::check(const http::Request& request) const {
  const std::string host(request.headers.get("Host")), origin(request.headers.get("Origin"));
  if (const std::string_view name = name_of(host); !host.empty() && !answers_to(name)) {
    throw ApiError::forbidden(fmt::format(
        "the server answers to local names, not to '{}'; start it with --allowed-host {}", name, name));
  }
  if (origin.empty() || allows(origin)) return;
  if (!same_name(origin, "http://" + host) && !same_name(origin, "https://" + host)) {
    throw ApiError::forbidden("pages of other origins are not answered; start the server with --cors ORIGIN");
  }
}

http::Headers Origins::permission(const http::Request& request) const {
  const std::string origin(request.headers.get("Origin"));
  if (origin.empty() || !allows(origin)) return {};
  const bool any = std::ranges::find(allowed_, "*") != allowed_.end();
  http::Headers headers = {{"Access-Control-Allow-Origin", any ? "*" : origin},
                           {"Access-Control-Expose-Headers", "Retry-After"}};
  if (!any) headers.add("Vary", "Origin");
  if (request.method != "OPTIONS") return headers;
  headers.add("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  // Whatever headers the page's library likes to send: they change nothing.
  headers.add("Access-Control-Allow-Headers",
              std::string(request.headers.get("Access-Control-Request-Headers")));
  headers.add("Access-Control-Max-Age", "3600");
  return headers;
}

}  // namespace spectr::server
