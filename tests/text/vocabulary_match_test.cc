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

TEST(SameVocabulary, SpecialTokensMayDiffer) {
  const auto other = vocabulary({"<unk>", "<begin>", "</s>", "a", "b", "<think>"}, {2, 3, 3, 1, 1, 4});
  for (const auto& found : {same_vocabulary(plain(), other), same_vocabulary(other, plain())}) {
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->special, 2U);
    EXPECT_EQ(found->first, 1);
  }
  const auto none = same_vocabulary(plain(), plain());
  EXPECT_EQ(none->special, 0U);
  EXPECT_FALSE(none->first);
}

TEST(SameVocabulary, ASpecialTokenIsNoPlainOne) {
  const auto other = vocabulary({"<unk>", "<s>", "</s>", "a", "<|b|>"}, {2, 3, 3, 1, 3});
  expect_difference(plain(), other, "token 4 is \"b\" in the target, \"<|b|>\" in the draft");
}

TEST(SameVocabulary, SpecialTokensThatDifferAreAtMostSoMany) {
  const auto with = [](std::size_t count) {
    std::vector<std::string> texts = {"<unk>", "<s>", "</s>", "a", "b"};
    std::vector<std::int32_t> kinds = {2, 3, 3, 1, 1};
    for (std::size_t i = 0; i < count; ++i) texts.push_back(fmt::format("<{}>", i));
    kinds.resize(texts.size(), 3);
    return vocabulary(texts, kinds);
  };
  EXPECT_TRUE(same_vocabulary(plain(), with(max_special_differences)));
  expect_difference(with(max_special_differences + 1), plain(),
                    "token 5 is \"<0>\" in the target, absent in the draft, and 128 more differ");
}

TEST(SameVocabulary, ARefusalSaysWhatWouldFit) {
  const auto other = vocabulary({"<unk>", "<s>", "</s>", "x", "y"}, {2, 3, 3, 1, 1});
  const auto refused = same_vocabulary(plain(), other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("and 1 more differ; a smaller model of the same family"));
  std::vector<std::string> qwen(151'936);
  for (std::size_t i = 0; i < qwen.size(); ++i) qwen[i] = fmt::format("t{}", i);
  qwen[151'644] = "<|im_start|>";
  const auto target = vocabulary(qwen, std::vector<std::int32_t>(qwen.size(), 1));
  EXPECT_THAT(fitting_drafts(target), HasSubstr("Qwen3-0.6B"));
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
