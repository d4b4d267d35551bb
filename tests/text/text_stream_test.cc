#include "spectr/text/text_stream.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;

/// Returns the output of a stream for each token, and at the end.
std::vector<std::string> parts(const Tokenizer& tokenizer, TextStream::Start start,
                               const std::vector<Token>& tokens) {
  TextStream stream(tokenizer, start);
  std::vector<std::string> out;
  for (const Token token : tokens) out.push_back(stream.push(token));
  out.push_back(stream.finish());
  return out;
}

constexpr auto text = TextStream::Start::text;
constexpr auto continuation = TextStream::Start::continuation;

TEST(TextStream, HoldsBackTheBeginningOfACharacter) {
  const auto tokenizer = good_tokenizer(tiny_byte_level());
  EXPECT_THAT(parts(*tokenizer, text, {'a', 0xF0, 0x9F, 0xA6, 0x99, 'b'}),
              ElementsAre("a", "", "", "", "\U0001F999", "b", ""));
}

TEST(TextStream, GivesOutAnUnfinishedCharacterAtTheEnd) {
  const auto tokenizer = good_tokenizer(tiny_byte_level());
  EXPECT_THAT(parts(*tokenizer, text, {'a', 0xE2, 0x96}), ElementsAre("a", "", "", "\xE2\x96"));
}

TEST(TextStream, PassesOnWhatIsNoCharacter) {
  const auto tokenizer = good_tokenizer(tiny_byte_level());
  EXPECT_THAT(parts(*tokenizer, text, {0xFF, 0xE2, 'a', 0x96}), ElementsAre("\xFF", "",
                                                                            "\xE2"
                                                                            "a",
                                                                            "\x96", ""));
}

TEST(TextStream, TakesTheAddedSpaceOutOfATextButNotOfAContinuation) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  constexpr Token bos = 1, end = 2, sp_a = 262, sp = 264, a = 265, tool = 268;
  EXPECT_THAT(parts(*tokenizer, text, {bos, sp_a, sp_a}), ElementsAre("", "a", " a", ""));
  EXPECT_THAT(parts(*tokenizer, continuation, {sp_a, sp_a}), ElementsAre(" a", " a", ""));
  EXPECT_THAT(parts(*tokenizer, text, {sp, sp_a}), ElementsAre("", " a", "")) << "one space, not two";
  EXPECT_THAT(parts(*tokenizer, text, {a, sp_a}), ElementsAre("a", " a", ""));
  EXPECT_THAT(parts(*tokenizer, text, {tool, sp_a}), ElementsAre("<tool>", "a", ""));
  EXPECT_THAT(parts(*tokenizer, text, {a, end, sp_a}), ElementsAre("a", "", "a", ""));
  EXPECT_THAT(parts(*tokenizer, continuation, {tool, sp_a}), ElementsAre("<tool>", " a", ""));
}

}  // namespace
}  // namespace spectr
