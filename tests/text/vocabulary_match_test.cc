#include "spectr/text/vocabulary_match.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::HasSubstr;

Vocabulary vocabulary(const std::vector<std::string>& texts, const std::vector<std::int32_t>& kinds) {
  return load_vocabulary(GgufWriter()
                             .set("tokenizer.ggml.model", "llama")
                             .set("tokenizer.ggml.tokens", texts)
                             .set("tokenizer.ggml.token_type", kinds))
      .value();
}

Vocabulary plain() {
  return vocabulary({"<unk>", "<s>", "</s>", "a", "b"}, {2, 3, 3, 1, 1});
}

void expect_difference(const Vocabulary& target, const Vocabulary& draft, const std::string& what) {
  const auto same = same_vocabulary(target, draft);
  ASSERT_FALSE(same);
  EXPECT_THAT(same.error().message, HasSubstr("tiny.gguf cannot draft for tiny.gguf: " + what));
}

TEST(SameVocabulary, AVocabularyMatchesItself) {
  EXPECT_TRUE(same_vocabulary(plain(), plain()));
}

TEST(SameVocabulary, OneMayHavePaddingAtItsEnd) {
  const auto padded =
      vocabulary({"<unk>", "<s>", "</s>", "a", "b", "x", "[PAD6]", "", "<pad>"}, {2, 3, 3, 1, 1, 5, 1, 1, 3});
  EXPECT_TRUE(same_vocabulary(plain(), padded));
  EXPECT_TRUE(same_vocabulary(padded, plain()));
}

TEST(SameVocabulary, MoreRealTokensAreADifference) {
  const auto larger = vocabulary({"<unk>", "<s>", "</s>", "a", "b", "c"}, {2, 3, 3, 1, 1, 1});
  expect_difference(larger, plain(), "token 5 is \"c\" in the target, absent in the draft");
  expect_difference(plain(), larger, "token 5 is absent in the target, \"c\" in the draft");
}

TEST(SameVocabulary, TheFirstTokenThatDiffersIsNamed) {
  const auto other = vocabulary({"<unk>", "<s>", "</s>", "a", "B\n"}, {2, 3, 3, 1, 1});
  expect_difference(plain(), other, "token 4 is \"b\" in the target, \"B\\n\" in the draft");
}

TEST(SameVocabulary, PaddingOfOneMayBeATokenOfTheOther) {
  const auto padded = vocabulary({"<unk>", "<s>", "</s>", "a", "<|PAD_TOKEN|>"}, {2, 3, 3, 1, 3});
  EXPECT_TRUE(same_vocabulary(plain(), padded));
  EXPECT_TRUE(same_vocabulary(padded, plain()));
}

TEST(SameVocabulary, TypesMatter) {
  expect_difference(plain(), load_vocabulary(tiny_byte_level()).value(),
                    "the type is SentencePiece in the target, byte-level in the draft");
}

TEST(SameVocabulary, HowADraftWouldBeginAndEndTextsOfItsOwnDoesNotMatter) {
  GgufWriter ends = tiny_sentencepiece();
  ends.set("tokenizer.ggml.eos_token_id", 1U);
  EXPECT_TRUE(same_vocabulary(load_vocabulary(tiny_sentencepiece()).value(), load_vocabulary(ends).value()));
  GgufWriter begins = tiny_byte_level();
  begins.remove("tokenizer.ggml.bos_token_id");
  EXPECT_TRUE(same_vocabulary(load_vocabulary(tiny_byte_level()).value(), load_vocabulary(begins).value()));
}

}  // namespace
}  // namespace spectr
