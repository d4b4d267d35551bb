#include "spectr/base/utf8.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace spectr {
namespace {

/// Encodes a code point in `length` bytes, which need not be the shortest form.
std::string encode(unsigned code_point, int length) {
  if (length == 1) return {static_cast<char>(code_point)};
  std::string out;
  for (int i = 1; i < length; ++i, code_point >>= 6) {
    out.insert(out.begin(), static_cast<char>(0x80 | (code_point & 0x3F)));
  }
  constexpr int marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  out.insert(out.begin(), static_cast<char>(marks[length] | static_cast<int>(code_point)));
  return out;
}

int shortest(unsigned code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

TEST(Utf8, ExactlyTheShortestFormsOfScalarValuesAreCharacters) {
  constexpr unsigned limits[] = {0, 0x80, 0x800, 0x10000, 0x200000};
  for (int length = 1; length <= 4; ++length) {
    for (unsigned code_point = 0; code_point < limits[length]; ++code_point) {
      const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
      const bool good = shortest(code_point) == length && !surrogate && code_point <= 0x10FFFF;
      const std::string bytes = encode(code_point, length);
      ASSERT_EQ(utf8_length(bytes), good ? bytes.size() : 0U) << code_point << " in " << length;
      ASSERT_EQ(code_point_of(bytes), good ? std::optional(code_point) : std::nullopt);
      if (shortest(code_point) == length) {
        std::string appended;
        ASSERT_EQ(append_utf8(code_point, appended), good);
        ASSERT_EQ(appended, good ? bytes : "");
      }
      if (!good) continue;
      for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        const std::string_view begun = std::string_view(bytes).substr(0, cut);
        ASSERT_EQ(utf8_length(begun), 0U);
        ASSERT_EQ(utf8_unfinished(begun), cut);
      }
      ASSERT_EQ(utf8_unfinished(bytes), 0U);
    }
  }
}

TEST(Utf8, BytesThatBeginNoCharacterAreNotUnfinished) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(code_point_of(""), std::nullopt);
  EXPECT_EQ(code_point_of("ab"), std::nullopt);
  EXPECT_EQ(utf8_unfinished(""), 0U);
  for (const char* bytes : {"\x80", "\xC0", "\xC1\xBF", "\xE0\x80", "\xED\xA0", "\xF0\x8F", "\xF4\x90",
                            "\xF5", "\xFF", "\xC3\xA9\x80"}) {
    EXPECT_EQ(utf8_unfinished(bytes), 0U) << testing::PrintToString(bytes);
  }
  EXPECT_EQ(utf8_unfinished("ab\xF0\x9F\xA6"), 3U);
  EXPECT_EQ(utf8_unfinished("\xFF\xE2\x96"), 2U);
}

TEST(Utf8, CharactersAreCountedNotBytes) {
  EXPECT_EQ(utf8_characters(""), 0U);
  EXPECT_EQ(utf8_characters("cat"), 3U);
  EXPECT_EQ(utf8_characters("na\xC3\xAFve \xF0\x9F\xA6\x99"), 7U);
  EXPECT_EQ(utf8_characters("\x99\xC3 \xF0\x9F"), 5U) << "a byte that is no part of a character is one";
}

TEST(Utf8, ATextBeginsWithACharacterOrAByte) {
  EXPECT_EQ(first_character("cat"), "c");
  EXPECT_EQ(first_character("\xC3\xAFve"), "\xC3\xAF");
  EXPECT_EQ(first_character("\xC3"), "\xC3");
  EXPECT_EQ(first_character("\xAF\xAF"), "\xAF");
}

}  // namespace
}  // namespace spectr
