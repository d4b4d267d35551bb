#include "apps/server/origin.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "apps/server/api_error.h"

namespace spectr::server {
namespace {

using http::same_name;

std::optional<int> default_port(std::string_view scheme) {
  if (same_name(scheme, "http")) return 80;
  if (same_name(scheme, "https")) return 443;
  return std::nullopt;
}

std::optional<int> read_port(std::string_view digits) {
  constexpr int max_port = 65535;
  int port = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool is_port = failed == std::errc{} && end == digits.data() + digits.size() && port >= 1;
  return is_port && port <= max_port ? std::optional(port) : std::nullopt;
}

bool is_ipv6(std::string_view address) {
  in6_addr v6{};
  return inet_pton(AF_INET6, std::string(address).c_str(), &v6) == 1;
}

bool is_domain(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '.' || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, is_part);
}

/// A web origin: scheme and host. The port is filled in if the scheme has a default.
struct Origin {
  std::string scheme;
  HostName host;

  static std::optional<Origin> read(std::string_view text) {
    const std::size_t colon = text.find("://");
    if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
    const std::string_view scheme = text.substr(0, colon);
    auto host = HostName::read(text.substr(colon + 3));
    if (!host || !std::ranges::all_of(scheme, [](char c) { return is_domain({&c, 1}) || c == '+'; }))
      return std::nullopt;
    if (!host->port) host->port = default_port(scheme);
    return Origin{std::string(scheme), *std::move(host)};
  }

  bool operator==(const Origin& other) const {
    return same_name(scheme, other.scheme) && same_name(host.name, other.host.name) &&
           host.port == other.host.port;
  }
};

/// Returns true if a page of this origin was served by the requested host. The request's scheme is unknown,
/// since a proxy may terminate TLS.
bool is_of(const Origin& origin, const HostName& host) {
  const auto usual = default_port(origin.scheme);
  return usual && same_name(origin.host.name, host.name) && origin.host.port == host.port.value_or(*usual);
}

/// Returns true if the requested port matches that of a known host. Clients omit default ports.
bool reaches(const HostName& known, const HostName& asked) {
  if (!known.port || known.port == asked.port) return true;
  return !asked.port && (known.port == default_port("http") || known.port == default_port("https"));
}

}  // namespace

std::optional<HostName> HostName::read(std::string_view text) {
  if (is_ipv6(text)) return HostName{fmt::format("[{}]", text), std::nullopt};
  const bool in_brackets = text.starts_with('[');
  const std::size_t end = in_brackets ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, in_brackets ? end + 1 : end);
  const std::string_view rest = text.substr(name.size());
  if (in_brackets ? !is_ipv6(name.substr(1, name.size() - 2)) : !is_domain(name)) return std::nullopt;
  if (rest.empty() || rest == ":") return HostName{std::string(name), std::nullopt};
  const auto port = rest.starts_with(':') ? read_port(rest.substr(1)) : std::nullopt;
  return port ? std::optional(HostName{std::string(name), port}) : std::nullopt;
}

bool is_loopback(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string address(host);
  if (in_addr v4{}; inet_aton(address.c_str(), &v4) != 0) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr v6{};
  return same_name(host, "localhost") ||
         (inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

bool is_origin(std::string_view text) {
  return Origin::read(text).has_value();
}

Origins::Origins(const std::string& host, std::vector<std::string> names, std::vector<std::string> allowed)
    : local_(is_loopback(host)), names_(std::move(names)), allowed_(std::move(allowed)) {}

bool Origins::answers_to(const HostName& host) const {
  return !local_ || is_loopback(host.name) || std::ranges::any_of(names_, [&](const std::string& one) {
    const auto known = HostName::read(one);
    return known && same_name(known->name, host.name) && reaches(*known, host);
  });
}

bool Origins::allows(std::string_view origin) const {
  const auto asked = Origin::read(origin);
  const bool from_here = asked && is_loopback(asked->host.name);
  return std::ranges::any_of(allowed_, [&](const std::string& one) {
    if (one == "localhost") return from_here;
    return one == "*" || (asked ? Origin::read(one) == asked : same_name(one, origin));
  });
}

void Origins::check(const http::Request& request) const {
  const std::string given(request.headers.get("Host")), origin(request.headers.get("Origin"));
  const auto host = HostName::read(given);
  if (!given.empty() && local_ && (!host || !answers_to(*host))) {
    const std::string name = host ? host->name : given;
    throw ApiError::forbidden(fmt::format(
        "the server answers to local names, not to '{}'; start it with --allowed-host {}", given, name));
  }
  if (origin.empty() || allows(origin)) return;
  const auto page = Origin::read(origin);
  if (!page || !host || !is_of(*page, *host))
    throw ApiError::forbidden("pages of other origins are not answered; start the server with --cors ORIGIN");
}

http::Headers Origins::permission(const http::Request& request) const {
  const std::string origin(request.headers.get("Origin"));
  if (origin.empty() || !allows(origin)) return {};
  const bool any = std::ranges::find(allowed_, "*") != allowed_.end();
  http::Headers headers = {{"Access-Control-Allow-Origin", any ? "*" : origin},
                           {"Access-Control-Expose-Headers", "Retry-After, X-Request-Id"}};
  if (!any) headers.add("Vary", "Origin");
  if (request.method != "OPTIONS") return headers;
  headers.add("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  // Allows all requested headers: they have no effect.
  headers.add("Access-Control-Allow-Headers",
              std::string(request.headers.get("Access-Control-Request-Headers")));
  headers.add("Access-Control-Max-Age", "3600");
  return headers;
}

}  // namespace spectr::server
