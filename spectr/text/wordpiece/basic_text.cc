#include "spectr/text/wordpiece/basic_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/utf8.h"

namespace spectr {
namespace {

utf8proc_category_t category(utf8proc_int32_t character) {
  return utf8proc_category(character);
}

bool is_white_space(utf8proc_int32_t character) {
  if (character == '\t' || character == '\n' || character == '\r') return true;
  const auto kind = category(character);
  return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

bool is_dropped(utf8proc_int32_t character) {
  const auto kind = category(character);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO ||
         character == 0xFFFD;
}

bool is_punctuation(utf8proc_int32_t character) {
  const bool is_alphanumeric = (character >= '0' && character <= '9') ||
                               (character >= 'A' && character <= 'Z') ||
                               (character >= 'a' && character <= 'z');
  if (character < 0x80) return character > ' ' && character < 0x7F && !is_alphanumeric;
  const auto kind = category(character);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

/// True for Chinese characters, including those in Japanese and Korean, but not for kana and hangul.
bool is_chinese(utf8proc_int32_t character) {
  struct Range {
    utf8proc_int32_t first, last;
  };
  constexpr Range ranges[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                              {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  return std::ranges::any_of(ranges, [character](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

/// Builds words from characters.
class Words {
 public:
  explicit Words(const BasicTextOptions& options) : options_(options) {}

  void add(utf8proc_int32_t character) {
    if (is_white_space(character)) return end_word();
    if (is_dropped(character)) return;
    const bool alone = is_chinese(character);
    if (alone) end_word();
    if (options_.strip_accents) {
      constexpr std::size_t longest = 4;  // of all canonical decompositions (UAX #15, section 9)
      utf8proc_int32_t parts[longest];
      const auto count = utf8proc_decompose_char(character, parts, longest, UTF8PROC_DECOMPOSE, nullptr);
      SPECTR_CHECK(count >= 1 && static_cast<std::size_t>(count) <= longest);
      for (std::ptrdiff_t i = 0; i < count; ++i)
        if (category(parts[i]) != UTF8PROC_CATEGORY_MN) add_letter(parts[i]);
    } else {
      add_letter(character);
    }
    if (alone) end_word();
  }

  std::vector<std::string> take() {
    end_word();
    return std::move(words_);
  }

 private:
  void add_letter(utf8proc_int32_t letter) {
    if (options_.lower_case) letter = utf8proc_tolower(letter);
    const bool alone = is_punctuation(letter);
    if (alone) end_word();
    append_utf8(static_cast<std::uint32_t>(letter), word_);
    if (alone) end_word();
  }

  void end_word() {
    if (!word_.empty()) words_.push_back(std::move(word_));
    word_.clear();
  }

  const BasicTextOptions& options_;
  std::vector<std::string> words_;
  std::string word_;
};

}  // namespace

std::vector<std::string> basic_words(std::string_view text, const BasicTextOptions& options) {
  Words words(options);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      ++at;
      continue;
    }
    utf8proc_int32_t character = 0;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                     static_cast<utf8proc_ssize_t>(length), &character);
    words.add(character);
    at += length;
  }
  return words.take();
}

}  // namespace spectr
