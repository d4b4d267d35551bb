#include "apps/http/target.h"

#include "apps/http/message.h"

namespace spectr::http {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// A percent sign that no two digits follow stands for itself.
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

std::optional<Target> read_target(std::string_view target) {
  Target read;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_name(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::string_view authority = target.substr(0, target.find_first_of("/?#"));
    // User information in front of a host is how addresses deceive; nobody sends it to a server.
    if (authority.empty() || authority.contains('@')) return std::nullopt;
    read.authority = authority;
    target.remove_prefix(authority.size());
    read.path = decode(target.substr(0, target.find_first_of("?#")));
    if (read.path.empty()) read.path = "/";
    return read;
  }
  if (target != "*" && !target.starts_with('/')) return std::nullopt;
  read.path = decode(target.substr(0, target.find_first_of("?#")));
  return read;
}

}  // namespace spectr::http
