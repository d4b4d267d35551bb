#include "spectr/model/special_tokens.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;

std::vector<std::string> split(const SpecialTokens& specials, std::string_view text, bool parse_special) {
  std::vector<std::string> out;
  for (const Fragment& fragment : specials.split(text, parse_special)) {
    out.push_back(fragment.token ? fmt::format("#{}", *fragment.token) : std::string(fragment.text));
  }
  return out;
}

TEST(SpecialTokens, ControlTokensNeedTrustAndUserDefinedOnesDoNot) {
  const Vocabulary vocabulary = load_vocabulary(tiny_sentencepiece()).value();
  const SpecialTokens specials(vocabulary);
  EXPECT_THAT(split(specials, "<s>a<tool>b</s>", false), ElementsAre("<s>a", "#268", "b</s>"));
  EXPECT_THAT(split(specials, "<s>a<tool>b</s>", true), ElementsAre("#1", "a", "#268", "b", "#2"));
  EXPECT_THAT(split(specials, "<tool><tool>", false), ElementsAre("#268", "#268"));
  EXPECT_THAT(split(specials, "<unk>", true), ElementsAre("#0"));
  EXPECT_THAT(split(specials, "", true), ElementsAre());
  EXPECT_THAT(split(specials, "<to", true), ElementsAre("<to"));
}

TEST(SpecialTokens, LongerTokensAreFoundFirstWhereverTheyStand) {
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens",
             std::vector<std::string>{"<unk>", "<s>", "</s>", "aa", "aab", "baa", "a"});
  writer.set("tokenizer.ggml.scores", std::vector<float>(7));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 4, 4, 4, 1});
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  const SpecialTokens specials(vocabulary);
  EXPECT_THAT(split(specials, "aaab", false), ElementsAre("a", "#4")) << "not aa, ab";
  EXPECT_THAT(split(specials, "aabaa", false), ElementsAre("#4", "#3")) << "equally long: the lower id first";
  EXPECT_THAT(split(specials, "aaa", false), ElementsAre("#3", "a"));
}

}  // namespace
}  // namespace spectr
