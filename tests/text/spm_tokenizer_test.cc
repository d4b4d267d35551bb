#include "spectr/text/spm_tokenizer.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TokenizeOptions bare = {.add_bos = false};
constexpr TokenizeOptions trusted = {.add_bos = false, .parse_special = true};
enum : Token { ab = 259, bc, abc, sp_a, sp_ab, sp, a, b, c, tool };
constexpr Token byte(int value) {
  return value + 3;
}

TEST(SpmTokenizer, TheBestScoreIsMergedFirstAndTheLeftmostOfEquals) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  EXPECT_THAT(tokenizer->encode("abc", bare), ElementsAre(sp, abc)) << "ab before ▁a";
  EXPECT_THAT(tokenizer->encode("ab", bare), ElementsAre(sp_ab));
  EXPECT_THAT(tokenizer->encode("cbc", bare), ElementsAre(sp, c, bc));
  EXPECT_THAT(tokenizer->encode("aab", bare), ElementsAre(sp_a, ab));
}

TEST(SpmTokenizer, ASpaceGoesBeforeTheText) {
  EXPECT_THAT(good_tokenizer(tiny_sentencepiece())->encode("a a", bare), ElementsAre(sp_a, sp_a));
  GgufWriter without = tiny_sentencepiece();
  without.set("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = good_tokenizer(without);
  EXPECT_THAT(tokenizer->encode("a a", bare), ElementsAre(a, sp_a));
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{sp_a, sp_a}), " a a");
}

TEST(SpmTokenizer, ASpaceGoesBeforeWhatFollowsASpecialToken) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  EXPECT_THAT(tokenizer->encode("a<tool>a", bare), ElementsAre(sp_a, tool, sp_a));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a<tool>a<tool><tool> a", bare)), "a<tool>a<tool><tool> a");
}

TEST(SpmTokenizer, BosIsAddedAndControlTokensAreReadOnRequest) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  EXPECT_THAT(tokenizer->encode("a"), ElementsAre(1, sp_a));
  EXPECT_THAT(tokenizer->encode(""), ElementsAre(1));
  EXPECT_THAT(tokenizer->encode("", bare), IsEmpty());
  EXPECT_THAT(tokenizer->encode("<s>a</s>", trusted), ElementsAre(1, sp_a, 2));
  EXPECT_THAT(tokenizer->encode("<s>", bare), ElementsAre(sp, byte('<'), byte('s'), byte('>')));
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{1, sp_a, 2, 0}), "a");
}

TEST(SpmTokenizer, ATextThatBeginsWithBosGetsNoOther) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  EXPECT_THAT(tokenizer->encode("<s>a", {.parse_special = true}), ElementsAre(1, sp_a));
  EXPECT_THAT(tokenizer->encode("<s><s>a", {.parse_special = true}), ElementsAre(1, 1, sp_a))
      << "its own are kept";
  EXPECT_THAT(tokenizer->encode("a<s>", {.parse_special = true}), ElementsAre(1, sp_a, 1));
  EXPECT_THAT(tokenizer->encode("<tool>a", {.parse_special = true}), ElementsAre(1, tool, sp_a));
  EXPECT_THAT(tokenizer->encode("<s>a").front(), 1) << "text that is no token";
  EXPECT_THAT(tokenizer->encode("<s>a").size(), 1 + tokenizer->encode("<s>a", bare).size());
  EXPECT_THAT(tokenizer->encode(MarkedText("<s>").append("a", true), true), ElementsAre(1, sp_a));
  EXPECT_EQ(tokenizer->encode(MarkedText("<s>", true).append("a"), true).size(),
            1 + tokenizer->encode("<s>a", bare).size())
      << "a quote is no token";
}

TEST(SpmTokenizer, SpacesThatWerePutInAreTakenOutAgain) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("<s>a</s>b</s> c<tool>a", trusted)), "ab c<tool>a");
}

TEST(SpmTokenizer, CharactersThatAreNoTokensBecomeBytes) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  EXPECT_THAT(tokenizer->encode("\u00E9\xFFz", bare),
              ElementsAre(sp, byte(0xC3), byte(0xA9), byte(0xFF), byte('z')));
  EXPECT_THAT(tokenizer->encode("<0x41>", bare),
              ElementsAre(sp, byte('<'), byte('0'), byte('x'), byte('4'), byte('1'), byte('>')));
  EXPECT_EQ(tokenizer->piece(byte(0xC3)), "\xC3");
}

TEST(SpmTokenizer, WithoutByteTokensACharacterIsUnknown) {
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", "\u2581", "a"});
  writer.set("tokenizer.ggml.scores", std::vector<float>(5));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 1, 1});
  const auto tokenizer = good_tokenizer(writer);
  EXPECT_THAT(tokenizer->encode("a\u00E9 a", bare), ElementsAre(3, 4, 0, 3, 4));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a\u00E9 a", bare)), "a a");
}

TEST(SpmTokenizer, WithoutByteTokensAndUnknownTokenACharacterIsLeftOut) {
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"", "<s>", "</s>", "\u2581", "a"});
  writer.set("tokenizer.ggml.scores", std::vector<float>(5));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{5, 3, 3, 1, 1});
  writer.set("tokenizer.ggml.unknown_token_id", 0U);
  EXPECT_THAT(good_tokenizer(writer)->encode("a\u00E9", bare), ElementsAre(3, 4, 0));
}

TEST(SpmTokenizer, NothingIsMergedToMoreThanAKilobyte) {
  std::vector<std::string> texts = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> kinds = {2, 3, 3};
  std::vector<float> scores(3);
  for (std::size_t length = 1; length <= 1500; ++length) {  // longer pieces have higher scores
    texts.emplace_back(length, 'a');
    kinds.push_back(1);
    scores.push_back(static_cast<float>(length));
  }
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.token_type", kinds);
  writer.set("tokenizer.ggml.scores", scores).set("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = good_tokenizer(writer);
  EXPECT_THAT(tokenizer->encode(std::string(2500, 'a'), bare), ElementsAre(2 + 1024, 2 + 1024, 2 + 452));
}

TEST(SpmTokenizer, ALongRunOfOneCharacterIsNoTrouble) {
  const auto tokenizer = good_tokenizer(tiny_sentencepiece());
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "abc";
  const auto tokens = tokenizer->encode(text, bare);
  EXPECT_EQ(tokens.size(), 100'001U);
  EXPECT_EQ(tokenizer->decode(tokens), text);
}

}  // namespace
}  // namespace spectr
