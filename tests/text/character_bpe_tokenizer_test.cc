#include "spectr/text/character_bpe_tokenizer.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;

constexpr TokenizeOptions bare = {.add_bos = false};
enum : Token { unknown, bos, turn_end, line, two_lines, space, a, b, ab, space_ab, three_lines, bytes };

/// Returns the tokens above, and from `bytes` on the 256 bytes.
GgufWriter tiny_character_bpe() {
  std::vector<std::string> texts = {"<unk>", "<bos>", "<turn|>", "\n",       "\n\n",  "\u2581",
                                    "a",     "b",     "ab",      "\u2581ab", "\n\n\n"};
  std::vector<std::int32_t> kinds = {2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  for (int byte = 0; byte < 256; ++byte) {
    texts.push_back(fmt::format("<0x{:02X}>", byte));
    kinds.push_back(6);
  }
  return GgufWriter()
      .set("tokenizer.ggml.model", "gemma4")
      .set("tokenizer.ggml.tokens", texts)
      .set("tokenizer.ggml.token_type", kinds)
      .set("tokenizer.ggml.bos_token_id", 1U)
      .set("tokenizer.ggml.eos_token_id", 2U)
      .set("tokenizer.ggml.unknown_token_id", 0U)
      .set("tokenizer.ggml.add_bos_token", false)
      .set("tokenizer.ggml.merges", std::vector<std::string>{"a b", "\u2581 ab", "\n \n"});
}

TEST(CharacterBpeTokenizer, MergesCharactersAndVisibleSpaces) {
  const auto tokenizer = good_tokenizer(tiny_character_bpe());
  EXPECT_THAT(tokenizer->encode("ab ab", bare), ElementsAre(ab, space_ab));
  EXPECT_THAT(tokenizer->encode(" a  b", bare), ElementsAre(space, a, space, space, b));
  EXPECT_FALSE(tokenizer->adds_prefix_space());
}

TEST(CharacterBpeTokenizer, TextsBeginWithBosWhateverTheFileSays) {
  EXPECT_THAT(good_tokenizer(tiny_character_bpe())->encode("ab"), ElementsAre(bos, ab));
}

TEST(CharacterBpeTokenizer, NothingIsMergedAcrossLineEnds) {
  const auto tokenizer = good_tokenizer(tiny_character_bpe());
  EXPECT_THAT(tokenizer->encode("a\nb", bare), ElementsAre(a, line, b));
}

TEST(CharacterBpeTokenizer, ARunOfLineEndsThatIsATokenIsTakenAsItIs) {
  const auto tokenizer = good_tokenizer(tiny_character_bpe());
  EXPECT_THAT(tokenizer->encode("a\n\n\nb", bare), ElementsAre(a, three_lines, b))
      << "there is no such merge";
  EXPECT_THAT(tokenizer->encode("\n\n\n\n", bare), ElementsAre(two_lines, two_lines)) << "no such token";
}

TEST(CharacterBpeTokenizer, OtherCharactersBecomeTheirBytes) {
  const auto tokenizer = good_tokenizer(tiny_character_bpe());
  EXPECT_THAT(tokenizer->encode("a\u00E9\xFF", bare),
              ElementsAre(a, bytes + 0xC3, bytes + 0xA9, bytes + 0xFF));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" a\u00E9\xFF b\n", bare)), " a\u00E9\xFF b\n");
}

TEST(CharacterBpeTokenizer, AMergeThatIsNoTokenFallsApartAgain) {
  GgufWriter writer = tiny_character_bpe();
  writer.set("tokenizer.ggml.merges", std::vector<std::string>{"b a", "ba \u00E9"});
  EXPECT_THAT(good_tokenizer(writer)->encode("ba\u00E9", bare),
              ElementsAre(b, a, bytes + 0xC3, bytes + 0xA9));
}

}  // namespace
}  // namespace spectr
