#include "spectr/base/quote.h"

#include <fmt/format.h>

#include <cstdint>

namespace spectr {
namespace {

/// Length of the well-formed UTF-8 character that `text` begins with (Unicode 15, table 3-7); 0: none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xBF; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool too_large = first == 0xF4 && second > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;  // U+0080 … U+009F
}

void append_escaped(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    switch (byte) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
}

/// Appends the characters that fit into `limit` bytes of `text`; true if these are all.
bool append_text(std::string_view text, std::size_t limit, std::string& out) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text.substr(at));
    const std::string_view character = text.substr(at, length == 0 ? 1 : length);
    if (at + character.size() > limit) return false;
    if (length == 0 || is_control(character)) {
      append_escaped(character, out);
    } else {
      if (character == "\"" || character == "\\") out += '\\';
      out += character;
    }
    at += character.size();
  }
  return true;
}

}  // namespace

std::string escape(std::string_view text, std::size_t limit) {
  std::string out;
  if (!append_text(text, limit, out)) out += "…";
  return out;
}

std::string quote(std::string_view text, std::size_t limit) {
  std::string out = "\"";
  const bool whole = append_text(text, limit, out);
  out += whole ? "\"" : "\"…";
  return out;
}

}  // namespace spectr
