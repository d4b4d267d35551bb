#include "spectr/text/jinja/escapes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>

#include "spectr/base/utf8.h"

namespace spectr::jinja {
namespace {

/// The number that the digits are; none: they are no digits.
std::optional<std::uint32_t> escaped_code_of(std::string_view digits, int base) {
  std::uint32_t code = 0;
  const char* const begin = std::to_address(digits.begin());
  const char* const end = std::to_address(digits.end());
  const auto [at, failed] = std::from_chars(begin, end, code, base);
  if (failed != std::errc{} || at != end) return std::nullopt;
  return code;
}

}  // namespace

Result<std::string> unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.size() < 2) return out += text;
    const char escaped = text[1];
    text.remove_prefix(2);
    constexpr std::string_view names = "abfnrtv\\'\"", meanings = "\a\b\f\n\r\t\v\\'\"";
    constexpr std::string_view octal = "01234567";
    if (escaped == '\n') continue;
    if (const std::size_t which = names.find(escaped); which != std::string_view::npos) {
      out += meanings[which];
    } else if (escaped == 'x' || escaped == 'u' || escaped == 'U') {
      const std::size_t n = escaped == 'x' ? 2 : escaped == 'u' ? 4 : 8;
      const auto code = text.size() < n ? std::nullopt : escaped_code_of(text.substr(0, n), 16);
      if (!code || !append_utf8(*code, out))
        return error("'\\{}{}' is not a character", escaped, text.substr(0, n));
      text.remove_prefix(n);
    } else if (octal.contains(escaped)) {
      std::string digits(1, escaped);
      for (; digits.size() < 3 && !text.empty() && octal.contains(text.front()); text.remove_prefix(1))
        digits += text.front();
      append_utf8(*escaped_code_of(digits, 8), out);
    } else if (escaped == 'N') {
      return error("'\\N' is not supported");
    } else {
      out += {'\\', escaped};
    }
  }
  return out;
}

}  // namespace spectr::jinja
