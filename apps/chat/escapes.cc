#include "apps/chat/escapes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace spectr::chat {
namespace {

/// Appends the character of that number in UTF-8; false where it is none.
bool append_utf8(std::uint32_t code, std::string& out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  const auto tail = [&](int shift) { byte(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    byte(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

/// The number that the digits are; none: they are no digits.
std::optional<std::uint32_t> code_of(std::string_view digits, int base) {
  std::uint32_t code = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, failed] = std::from_chars(digits.data(), end, code, base);
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
      const auto code = text.size() < n ? std::nullopt : code_of(text.substr(0, n), 16);
      if (!code || !append_utf8(*code, out))
        return error("'\\{}{}' is no character", escaped, text.substr(0, n));
      text.remove_prefix(n);
    } else if (octal.contains(escaped)) {
      std::string digits(1, escaped);
      for (; digits.size() < 3 && !text.empty() && octal.contains(text.front()); text.remove_prefix(1))
        digits += text.front();
      append_utf8(*code_of(digits, 8), out);
    } else if (escaped == 'N') {
      return error("'\\N' is not supported");
    } else {
      out += {'\\', escaped};
    }
  }
  return out;
}

}  // namespace spectr::chat
