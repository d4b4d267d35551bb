#include "spectr/base/names.h"

#include <fmt/format.h>

#include "spectr/base/utf8.h"

namespace spectr {
namespace {

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

/// Appends the characters that fit into `limit` bytes of `text`. Returns true if these are all characters.
bool append_text(std::string_view text, std::size_t limit, std::string& out) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view character = first_character(text.substr(at));
    if (at + character.size() > limit) return false;
    if (utf8_length(character) == 0 || is_control(character)) {
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
