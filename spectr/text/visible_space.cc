#include "spectr/text/visible_space.h"

namespace spectr {

std::string with_visible_spaces(std::string_view text, bool prefix) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  if (prefix) out += visible_space;
  for (const char byte : text) {
    if (byte == ' ') {
      out += visible_space;
    } else {
      out += byte;
    }
  }
  return out;
}

std::string with_spaces(std::string_view text) {
  std::string out;
  for (std::size_t at = text.find(visible_space); at != std::string_view::npos;
       at = text.find(visible_space)) {
    out += text.substr(0, at);
    out += ' ';
    text.remove_prefix(at + visible_space.size());
  }
  out += text;
  return out;
}

}  // namespace spectr
