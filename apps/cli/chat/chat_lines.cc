#include "apps/cli/chat/chat_lines.h"

#include <cstddef>
#include <istream>
#include <string_view>

namespace spectr::cli {
namespace {

/// Removes the first mark from a line and returns its position.
std::size_t cut_mark(std::string& line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at != std::string::npos) line.erase(at, mark.size());
  return at;
}

}  // namespace

bool StreamLines::read(std::string& line) {
  if (!std::getline(in_, line)) return false;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

std::expected<TypedLine, NoLine> StreamLines::next(bool) {
  std::string line;
  if (!read(line)) return std::unexpected(NoLine::ended);
  TypedLine typed;
  for (;;) {
    const std::size_t begin = cut_mark(line, paste_begin);
    if (begin == 0) typed.is_pasted = true;
    const bool is_open = begin != std::string::npos;
    while (is_open && cut_mark(line, paste_end) == std::string::npos) {
      typed.is_pasted = true;
      typed.text += line + '\n';
      line.clear();
      if (!read(line)) break;
    }
    if (!line.contains(paste_begin)) break;  // otherwise the line has another paste
  }
  typed.text += line;
  return typed;
}

}  // namespace spectr::cli
