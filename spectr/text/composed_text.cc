#include "spectr/text/composed_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/utf8.h"

namespace spectr {
namespace {

using Characters = std::vector<utf8proc_int32_t>;

// No character below this one is a mark or the second part of another character: the text before it can be
// composed on its own.
constexpr utf8proc_int32_t first_mark = 0x300;
// Every character below it is one byte, or two of which the first is less than this one.
constexpr unsigned char first_byte_of_marks = 0xCC;

// Composes as in all versions of Unicode: without the characters that composition excludes.
constexpr auto composing = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);

int combining_class(utf8proc_int32_t character) {
  return utf8proc_get_property(character)->combining_class;
}

void append_decomposed(utf8proc_int32_t character, Characters& out) {
  constexpr std::size_t longest = 4;  // of all canonical decompositions (UAX #15, section 9)
  utf8proc_int32_t parts[longest];
  const auto count = utf8proc_decompose_char(character, parts, longest, UTF8PROC_DECOMPOSE, nullptr);
  SPECTR_CHECK(count >= 1 && static_cast<std::size_t>(count) <= longest);
  out.insert(out.end(), parts, parts + count);
}

/// Appends decomposed characters in their composed form, and clears them.
void compose(Characters& characters, std::string& out) {
  // utf8proc sorts marks by exchanging adjacent ones, which takes O(n²) for n marks.
  for (auto at = characters.begin(); at != characters.end();) {
    const auto is_starter = [](utf8proc_int32_t character) { return combining_class(character) == 0; };
    const auto marks = std::find_if_not(at, characters.end(), is_starter);
    at = std::find_if(marks, characters.end(), is_starter);
    std::stable_sort(marks, at,
                     [](auto left, auto right) { return combining_class(left) < combining_class(right); });
  }
  auto length = static_cast<utf8proc_ssize_t>(characters.size());
  if (length > 1) length = utf8proc_normalize_utf32(characters.data(), length, composing);
  SPECTR_CHECK(length >= 0);
  for (utf8proc_ssize_t i = 0; i < length; ++i)
    append_utf8(static_cast<std::uint32_t>(characters[static_cast<std::size_t>(i)]), out);
  characters.clear();
}

}  // namespace

std::string composed_text(std::string_view text) {
  const auto has_no_marks = [](char byte) { return static_cast<unsigned char>(byte) < first_byte_of_marks; };
  if (std::ranges::all_of(text, has_no_marks)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  Characters pending;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      compose(pending, out);
      out += text[at++];
      continue;
    }
    utf8proc_int32_t character = 0;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                     static_cast<utf8proc_ssize_t>(length), &character);
    if (character < first_mark) compose(pending, out);
    append_decomposed(character, pending);
    at += length;
  }
  compose(pending, out);
  return out;
}

}  // namespace spectr
