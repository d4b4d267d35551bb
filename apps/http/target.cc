#include "apps/http/target.h"

#include <algorithm>

#include "apps/http/message.h"

namespace spectr::http {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Decodes percent escapes. A percent sign without two hexadecimal digits is kept.
std::string decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool code =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    decoded += code ? static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2])) : text[i];
    if (code) i += 2;
  }
  return decoded;
}

}  // namespace

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = pair.find('=');
    if (decode(pair.substr(0, equals)) != name) continue;
    return equals == std::string_view::npos ? "" : decode(pair.substr(equals + 1));
  }
  return std::nullopt;
}

std::optional<Target> read_target(std::string_view target) {
  if (target.starts_with('*') && target != "*") return std::nullopt;
  Target read;
  target = target.substr(0, target.find('#'));
  if (const std::size_t mark = target.find('?'); mark != std::string_view::npos) {
    read.query = target.substr(mark + 1);
    target = target.substr(0, mark);
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_name(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::string_view authority = target.substr(0, target.find('/'));
    // User information before a host is used to deceive readers of a URL; no client sends it to a server.
    if (authority.empty() || authority.contains('@')) return std::nullopt;
    read.authority = authority;
    target.remove_prefix(authority.size());
    read.path = decode(target);
    if (read.path.empty()) read.path = "/";
    return read;
  }
  if (target != "*" && !target.starts_with('/')) return std::nullopt;
  read.path = decode(target);
  return read;
}

}  // namespace spectr::http
