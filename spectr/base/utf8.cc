#include "spectr/base/utf8.h"

#include <algorithm>

namespace spectr {
namespace {

struct Range {
  unsigned char low, high;
  bool holds(unsigned char byte) const { return low <= byte && byte <= high; }
};

/// Properties that the first byte determines: the length, and the range of the second byte that excludes
/// overlong forms, surrogates and code points above U+10FFFF. Length 0: not a first byte.
struct Lead {
  std::size_t length;
  Range second;
};

Lead lead(unsigned char first) {
  if (first < 0x80) return {1, {}};
  if (first < 0xC2) return {0, {}};
  if (first < 0xE0) return {2, {0x80, 0xBF}};
  if (first == 0xE0) return {3, {0xA0, 0xBF}};
  if (first == 0xED) return {3, {0x80, 0x9F}};
  if (first < 0xF0) return {3, {0x80, 0xBF}};
  if (first == 0xF0) return {4, {0x90, 0xBF}};
  if (first < 0xF4) return {4, {0x80, 0xBF}};
  if (first == 0xF4) return {4, {0x80, 0x8F}};
  return {0, {}};
}

/// Returns how many leading bytes of `text`, at most `lead.length`, are valid for a character with this lead.
std::size_t matching(std::string_view text, const Lead& lead) {
  std::size_t n = 1;
  for (; n < std::min(lead.length, text.size()); ++n) {
    const Range range = n == 1 ? lead.second : Range{0x80, 0xBF};
    if (!range.holds(static_cast<unsigned char>(text[n]))) break;
  }
  return n;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const Lead first = lead(static_cast<unsigned char>(text[0]));
  return first.length != 0 && matching(text, first) == first.length ? first.length : 0;
}

std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(utf8_length(text), 1));
}

std::optional<std::uint32_t> code_point_of(std::string_view character) {
  constexpr unsigned char of_first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};  // payload bits of the first byte
  const std::size_t length = utf8_length(character);
  if (length == 0 || length != character.size()) return std::nullopt;
  std::uint32_t code = static_cast<unsigned char>(character[0]) & of_first[length];
  for (const char byte : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  return code;
}

std::size_t utf8_unfinished(std::string_view text) {
  for (std::size_t n = 1; n <= std::min<std::size_t>(3, text.size()); ++n) {
    const std::string_view tail = text.substr(text.size() - n);
    const Lead first = lead(static_cast<unsigned char>(tail[0]));
    if (first.length > n && matching(tail, first) == n) return n;
  }
  return 0;
}

bool append_utf8(std::uint32_t character, std::string& out) {
  if (character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF)) return false;
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  const auto tail = [&](int shift) { byte(0x80 | ((character >> shift) & 0x3F)); };
  if (character < 0x80) {
    byte(character);
  } else if (character < 0x800) {
    byte(0xC0 | (character >> 6));
    tail(0);
  } else if (character < 0x10000) {
    byte(0xE0 | (character >> 12));
    tail(6);
    tail(0);
  } else {
    byte(0xF0 | (character >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

std::size_t utf8_characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(first_character(text).size());
  return count;
}

}  // namespace spectr
