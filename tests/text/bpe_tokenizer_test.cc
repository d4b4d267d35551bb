#include "spectr/text/bpe_tokenizer.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;

constexpr TokenizeOptions bare = {.add_bos = false};
enum : Token { he = 256, ll, hell, hello, sp_hello, tool, end };

TEST(BpeTokenizer, MergesGoInTheOrderOfTheFile) {
  const auto tokenizer = good_tokenizer(tiny_byte_level());
  EXPECT_THAT(tokenizer->encode("hello hello"), ElementsAre(hello, sp_hello));
  EXPECT_THAT(tokenizer->encode("hel"), ElementsAre(he, 'l'));
  EXPECT_THAT(tokenizer->encode("lll"), ElementsAre(ll, 'l')) << "the leftmost of equals";
  EXPECT_THAT(tokenizer->encode("\xC3\xA9\n"), ElementsAre(0xC3, 0xA9, '\n'));
}

TEST(BpeTokenizer, NothingIsMergedAcrossWords) {
  const auto tokenizer = good_tokenizer(tiny_byte_level("qwen2"));
  EXPECT_THAT(tokenizer->encode("he\nllo"), ElementsAre(he, '\n', ll, 'o'));
}

TEST(BpeTokenizer, SomeRulesTakeAWordThatIsATokenAsItIs) {
  GgufWriter writer = tiny_byte_level("llama-bpe");
  writer.set("tokenizer.ggml.merges", std::vector<std::string>{"l l"});
  EXPECT_THAT(good_tokenizer(writer)->encode("hello hell", bare), ElementsAre(hello, ' ', 'h', 'e', ll))
      << "\" hell\" is no token, \"hello\" is";
  writer.set("tokenizer.ggml.pre", "qwen2");
  EXPECT_THAT(good_tokenizer(writer)->encode("hello", bare), ElementsAre('h', 'e', ll, 'o'));
}

TEST(BpeTokenizer, SomeVocabulariesComposeTheText) {
  const std::string apart = "e\u0301<tool>e\u0301";
  EXPECT_THAT(good_tokenizer(tiny_byte_level("qwen2"))->encode(apart),
              ElementsAre(0xC3, 0xA9, tool, 0xC3, 0xA9));
  EXPECT_THAT(good_tokenizer(tiny_byte_level("qwen35"))->encode(apart),
              ElementsAre('e', 0xCC, 0x81, tool, 'e', 0xCC, 0x81));
}

TEST(BpeTokenizer, SpecialTokensAreFoundWhereTheyAreAskedFor) {
  const auto tokenizer = good_tokenizer(tiny_byte_level());
  EXPECT_THAT(tokenizer->encode("he<tool>he"), ElementsAre(he, tool, he));
  EXPECT_THAT(tokenizer->encode("he<|im_end|>", {.parse_special = true}), ElementsAre(he, end));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("he<|im_end|>")), "he<|im_end|>") << "as plain text";
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{he, end, tool}), "he<tool>");
}

TEST(BpeTokenizer, BosIsAddedWhereTheRuleOrTheFileAsksForIt) {
  EXPECT_THAT(good_tokenizer(tiny_byte_level("llama-bpe"))->encode("he"), ElementsAre(end, he));
  EXPECT_THAT(good_tokenizer(tiny_byte_level("llama-bpe"))->encode("he", bare), ElementsAre(he));
}

TEST(BpeTokenizer, AMergeThatIsNoTokenFallsApartAgain) {
  GgufWriter writer = tiny_byte_level();
  writer.set("tokenizer.ggml.merges", std::vector<std::string>{"h e", "he l", "hel \u0101"});
  EXPECT_THAT(good_tokenizer(writer)->encode("hel"), ElementsAre('h', 'e', 'l'));
}

TEST(BpeTokenizer, BytesThatAreNoTokensAreLeftOut) {
  GgufWriter writer = tiny_byte_level();
  writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "<|end|>"});
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{1, 1, 3});
  writer.set("tokenizer.ggml.bos_token_id", 2U).set("tokenizer.ggml.eos_token_id", 2U);
  EXPECT_THAT(good_tokenizer(writer)->encode("abcab"), ElementsAre(0, 1, 0, 1));
}

TEST(BpeTokenizer, APieceOutsideTheAlphabetIsItsText) {
  GgufWriter writer = tiny_byte_level();
  writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"\u0120a\u4F60", "b", "<|end|>"});
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{1, 1, 3});
  writer.set("tokenizer.ggml.bos_token_id", 2U).set("tokenizer.ggml.eos_token_id", 2U);
  EXPECT_EQ(good_tokenizer(writer)->piece(0), " a\u4F60");
}

}  // namespace
}  // namespace spectr
