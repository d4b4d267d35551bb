#include "spectr/text/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>

#include "spectr/base/utf8.h"

namespace spectr {
namespace {

std::string character(int byte) {
  std::string out;
  append_alphabet_character(static_cast<unsigned char>(byte), out);
  return out;
}

TEST(ByteAlphabet, HasOneCharacterForEachByte) {
  std::set<std::string> seen;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = character(byte);
    EXPECT_TRUE(seen.insert(text).second);
    EXPECT_EQ(utf8_length(text), text.size());
    ASSERT_TRUE(alphabet_byte(text));
    EXPECT_EQ(static_cast<unsigned char>(*alphabet_byte(text)), byte);
  }
}

TEST(ByteAlphabet, IsTheOneOfGpt2) {
  EXPECT_EQ(character('A'), "A");
  EXPECT_EQ(character(' '), "\u0120");
  EXPECT_EQ(character('\n'), "\u010A");
  EXPECT_EQ(character(0x00), "\u0100");
  EXPECT_EQ(character(0x7F), "\u0121");
  EXPECT_EQ(character(0xA0), "\u0142");
  EXPECT_EQ(character(0xAD), "\u0143");
  EXPECT_EQ(character(0xFF), "\u00FF");
}

TEST(ByteAlphabet, OtherCharactersStandForNoByte) {
  for (const char* text : {"", " ", "\u00A0", "\u00AD", "\u0144", "\u2581", "\U0001F999", "\xFF", "ab"}) {
    EXPECT_EQ(alphabet_byte(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace spectr
