#include "spectr/text/stopping_text.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

/// A text of byte tokens that is pushed until it stops.
struct Bytes {
  std::unique_ptr<Tokenizer> tokenizer = good_tokenizer(tiny_byte_level());
  StoppingText text;

  Bytes(std::vector<std::string> stop_words, std::string_view bytes)
      : text(*tokenizer, std::move(stop_words)) {
    for (const char byte : bytes) {
      if (!text.stopped()) text.push(static_cast<unsigned char>(byte));
    }
  }
};

TEST(StoppingText, EndsBeforeTheFirstStopWord) {
  const Bytes bytes({"end", "x"}, "the end of x");
  EXPECT_TRUE(bytes.text.stopped());
  EXPECT_EQ(bytes.text.stop_word(), "end");
  EXPECT_EQ(bytes.text.text(), "the ");
  EXPECT_EQ(bytes.text.certain(), 4u);
}

TEST(StoppingText, IsCertainOfNothingThatMayBecomeAStopWord) {
  Bytes bytes({"end"}, "the en");
  EXPECT_FALSE(bytes.text.stopped());
  EXPECT_EQ(bytes.text.text(), "the en");
  EXPECT_EQ(bytes.text.certain(), 4u);
  bytes.text.push('o');
  EXPECT_EQ(bytes.text.certain(), 7u);
}

TEST(StoppingText, KeepsAnUnfinishedCharacterForTheEnd) {
  Bytes bytes({"\xE2\x96"}, "a\xE2\x96");
  EXPECT_EQ(bytes.text.text(), "a");
  bytes.text.finish();
  EXPECT_EQ(bytes.text.text(), "a") << "what the end adds may be a stop word, too";
  EXPECT_TRUE(bytes.text.stopped());
  Bytes other({"x"}, "a\xE2\x96");
  other.text.finish();
  EXPECT_EQ(other.text.text(), "a\xE2\x96");
}

TEST(StoppingText, EndsBeforeALineThatIsIndentedTooLittle) {
  const auto tokenizer = good_tokenizer(tiny_byte_level());
  const auto text_of = [&](std::size_t min_indent, std::string_view bytes) {
    StoppingText text(*tokenizer, {"stop"}, min_indent);
    for (const char byte : bytes) {
      if (!text.stopped()) text.push(static_cast<unsigned char>(byte));
    }
    return std::pair(text.text(), text.stopped());
  };
  EXPECT_EQ(text_of(2, "a\n  b\n\t c\n d\n  e"), std::pair(std::string("a\n  b\n\t c\n "), true));
  EXPECT_EQ(text_of(2, "a\n\n  b"), std::pair(std::string("a\n"), true)) << "a line without anything";
  EXPECT_EQ(text_of(2, "a\n  b"), std::pair(std::string("a\n  b"), false));
  EXPECT_EQ(text_of(2, "a\n  stop"), std::pair(std::string("a\n  "), true));
  EXPECT_EQ(text_of(0, "a\nb\n\nc"), std::pair(std::string("a\nb\n\nc"), false));
}

TEST(StoppingText, EndsAfterANewLineOnceItIsTold) {
  Bytes bytes({"x"}, "a\nb");
  bytes.text.end_at_new_line();
  EXPECT_FALSE(bytes.text.stopped()) << "the line that has passed does not end it";
  for (const char byte : {'c', '\n'}) bytes.text.push(static_cast<unsigned char>(byte));
  EXPECT_TRUE(bytes.text.stopped());
  EXPECT_EQ(bytes.text.stop_word(), "");
  EXPECT_EQ(bytes.text.text(), "a\nbc\n");
  EXPECT_EQ(bytes.text.certain(), 5u);
}

TEST(StoppingText, HearsNothingOfTokensThatEndTexts) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  constexpr Token end = 2, a = 265;
  StoppingText text(*tokenizer, {"</s>"});
  for (const Token token : {a, end, a}) text.push(token);
  EXPECT_EQ(text.text(), "aa");
}

}  // namespace
}  // namespace spectr
