// Vocabularies with one false statement each. If such a file has broken another
// reader, the comment cites the report.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Texts = std::vector<std::string>;

void expect_error(const GgufWriter& writer, const std::string& reason) {
  const auto tokenizer = load_tokenizer(writer);
  ASSERT_FALSE(tokenizer) << "was accepted; expected: " << reason;
  EXPECT_THAT(tokenizer.error().message, StartsWith("tiny.gguf: "));
  EXPECT_THAT(tokenizer.error().message, HasSubstr(reason));
}

/// Returns a SentencePiece vocabulary with only these texts.
GgufWriter bare(const Texts& texts) {
  return GgufWriter().set("tokenizer.ggml.model", "llama").set("tokenizer.ggml.tokens", texts);
}

TEST(MalformedVocabulary, TheModelIsMissingUnknownOrNoString) {
  expect_error(tiny_sentencepiece().remove("tokenizer.ggml.model"), "tokenizer.ggml.model is missing");
  expect_error(tiny_sentencepiece().set("tokenizer.ggml.model", "t5"), "tokenizer.ggml.model is \"t5\"");
  expect_error(tiny_sentencepiece().set("tokenizer.ggml.model", 7U), "tokenizer.ggml.model is an integer");
}

TEST(MalformedVocabulary, TheTokensAreMissingEmptyOrNoStrings) {
  expect_error(tiny_sentencepiece().remove("tokenizer.ggml.tokens"),
               "tokenizer.ggml.tokens is missing or empty");
  expect_error(bare({}), "tokenizer.ggml.tokens is missing or empty");
  expect_error(tiny_sentencepiece().set("tokenizer.ggml.tokens", std::vector<float>(269)),
               "tokenizer.ggml.tokens is an array of");
  expect_error(tiny_sentencepiece().set("tokenizer.ggml.tokens", "a"), "tokenizer.ggml.tokens is a string");
}

TEST(MalformedVocabulary, OfTokensThatShareATextTheLowestIsFoundAndAllArePrinted) {
  const auto tokenizer = good_tokenizer(bare({"<unk>", "<s>", "</s>", "a", "b", "a"}));
  EXPECT_EQ(tokenizer->vocabulary().find("a"), 3);
  EXPECT_EQ(tokenizer->piece(5), tokenizer->piece(3));
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", "<x>", "<x>", "a"});
  writer.set("tokenizer.ggml.scores", std::vector<float>(6));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 3, 4, 1});
  const auto special = good_tokenizer(writer);
  EXPECT_THAT(special->encode("<x>a", {.add_bos = false, .parse_special = true}),
              testing::ElementsAre(3, 0, 5))
      << "the space between them has no token";
}

TEST(MalformedVocabulary, EmptyTextsAreTolerated) {
  const auto tokenizer = good_tokenizer(bare({"<unk>", "<s>", "</s>", "", "", "\u2581", "a"}));
  EXPECT_EQ(tokenizer->vocabulary().find(""), std::nullopt);
  EXPECT_THAT(tokenizer->encode("a", {.parse_special = true}), testing::ElementsAre(1, 5, 6));
  EXPECT_EQ(tokenizer->piece(3), "");
}

TEST(MalformedVocabulary, AnEnormousTextIsATokenLikeAnyOther) {  // CVE-2025-49847
  const std::string enormous(10'000'000, 'x');
  const auto tokenizer = good_tokenizer(bare({"<unk>", "<s>", "</s>", enormous, "x"}));
  EXPECT_EQ(tokenizer->piece(3), enormous);
  EXPECT_EQ(tokenizer->vocabulary().text(3).size(), enormous.size());
}

TEST(MalformedVocabulary, ScoresAreOfAnotherTypeOrLength) {  // ggml-org/llama.cpp#26690
  const auto with = [](const auto& scores) {
    return tiny_sentencepiece().set("tokenizer.ggml.scores", scores);
  };
  expect_error(with(std::vector<std::uint8_t>(269)), "tokenizer.ggml.scores is an array of");
  expect_error(with(std::vector<std::int8_t>(269)), "tokenizer.ggml.scores is an array of");
  expect_error(with(Texts(269, "0")), "tokenizer.ggml.scores is an array of");
  expect_error(with(1.0F), "tokenizer.ggml.scores is a real number");
  expect_error(with(std::vector<float>()), "tokenizer.ggml.scores has 0 entries for 269 tokens");
  expect_error(with(std::vector<float>(268)), "tokenizer.ggml.scores has 268 entries for 269 tokens");
  expect_error(with(std::vector<float>(270)), "tokenizer.ggml.scores has 270 entries for 269 tokens");
}

TEST(MalformedVocabulary, AScoreIsNoNumber) {
  std::vector<float> scores(269);
  scores[260] = std::numeric_limits<float>::quiet_NaN();
  expect_error(tiny_sentencepiece().set("tokenizer.ggml.scores", scores),
               "tokenizer.ggml.scores is not a number at 260");
}

TEST(MalformedVocabulary, KindsAreOfAnotherTypeOrLength) {  // ggml-org/llama.cpp#26690
  const auto with = [](const auto& kinds) {
    return tiny_sentencepiece().set("tokenizer.ggml.token_type", kinds);
  };
  expect_error(with(std::vector<std::uint8_t>(269, 1)),
               "tokenizer.ggml.token_type is an array of type u8, but must be an array of type i32 or u32");
  expect_error(with(std::vector<float>(269, 1)), "tokenizer.ggml.token_type is an array of type f32, but");
  expect_error(with(Texts(269, "1")), "tokenizer.ggml.token_type is an array of type string, but");
  expect_error(with(1), "tokenizer.ggml.token_type is an integer, but");
  expect_error(with(std::vector<std::int32_t>(3, 1)),
               "tokenizer.ggml.token_type has 3 entries for 269 tokens");
}

TEST(MalformedVocabulary, AKindIsUnknown) {
  for (const int kind : {-1, 7, 1000}) {
    std::vector<std::int32_t> kinds(269, 1);
    kinds[5] = kind;
    expect_error(tiny_sentencepiece().set("tokenizer.ggml.token_type", kinds),
                 fmt::format("tokenizer.ggml.token_type is {} at 5", kind));
  }
}

TEST(MalformedVocabulary, AByteTokenNamesNoByte) {  // ggml-org/llama.cpp#26511
  for (const char* text : {"<0x-1>", "<0xZZ>", "<0x100>", "<0x1>", "<0x>", "", "x", "<0x4 >", "<0x41"}) {
    GgufWriter writer = bare({"<unk>", "<s>", "</s>", text});
    writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 6});
    expect_error(writer, "at 3, which is to be a byte from <0x00> to <0xFF>");
  }
}

TEST(MalformedVocabulary, WithoutKindsSuchATextIsOrdinary) {
  const auto tokenizer = good_tokenizer(bare({"<unk>", "<s>", "</s>", "<0x-1>", "<0xZZ>", "<0x41>"}));
  EXPECT_EQ(tokenizer->piece(3), "<0x-1>");
  EXPECT_EQ(tokenizer->piece(5), "A");
}

TEST(MalformedVocabulary, ASpecialIdLiesOutside) {
  for (const char* name : {"bos", "eos", "unknown", "eot", "eom"}) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", name);
    const auto fallback = good_tokenizer(tiny_sentencepiece());
    for (const std::uint64_t outside : {std::uint64_t{269}, std::uint64_t{0xffffffff}, ~std::uint64_t{0}}) {
      const auto tokenizer = good_tokenizer(tiny_sentencepiece().set(key, outside));
      EXPECT_THAT(tokenizer->vocabulary().warnings(),
                  testing::ElementsAre(testing::HasSubstr(fmt::format(
                      "{} is {}, but there are 269 tokens; the format's default", key, outside))));
      EXPECT_EQ(tokenizer->vocabulary().bos(), fallback->vocabulary().bos());
      EXPECT_EQ(tokenizer->vocabulary().ends(), fallback->vocabulary().ends());
    }
    expect_error(tiny_sentencepiece().set(key, -1), key + " is -1");
    expect_error(tiny_sentencepiece().set(key, "1"), key + " is a string");
  }
}

TEST(MalformedVocabulary, ADefaultIdThatLiesOutsideIsAbsent) {  // GHSA-g4cc-763q-h9h6
  const Vocabulary vocabulary = load_vocabulary(bare({"a"})).value();
  EXPECT_EQ(vocabulary.bos(), std::nullopt);
  EXPECT_EQ(vocabulary.eos(), std::nullopt);
  EXPECT_FALSE(vocabulary.add_bos());
  EXPECT_TRUE(vocabulary.ends().empty());
}

TEST(MalformedVocabulary, BosIsToBeAddedButThereIsNone) {  // ggml-org/llama.cpp#24885
  expect_error(bare({"a"}).set("tokenizer.ggml.add_bos_token", true),
               "tokenizer.ggml.add_bos_token is true, but tokenizer.ggml.bos_token_id is missing");
  expect_error(tiny_sentencepiece().set("tokenizer.ggml.add_bos_token", 1U),
               "tokenizer.ggml.add_bos_token is an integer");
}

TEST(MalformedVocabulary, ThePreTokenizerIsUnknown) {
  expect_error(tiny_byte_level("gpt-5"), "tokenizer.ggml.pre is \"gpt-5\", an unknown pre-tokenizer");
  expect_error(tiny_byte_level().set("tokenizer.ggml.pre", 1U), "tokenizer.ggml.pre is an integer");
}

TEST(MalformedVocabulary, ThePreTokenizerIsMissing) {
  GgufWriter writer = tiny_byte_level().remove("tokenizer.ggml.pre");
  const std::string missing = "tokenizer.ggml.pre is missing";
  expect_error(writer, missing);
  for (const char* architecture : {"llama", "qwen2", "gpt2 "}) {
    expect_error(writer.set("general.architecture", architecture), missing);
  }
  for (const char* architecture : {"gpt2", "gptneox"}) {  // GPT-2's rule, which old files do not specify
    EXPECT_TRUE(load_vocabulary(writer.set("general.architecture", architecture)));
  }
}

TEST(MalformedVocabulary, ThePartOfASplitFileSaysSo) {
  expect_error(GgufWriter().set("split.count", std::uint16_t{3}), "is one of 3 parts (split.count)");
  expect_error(GgufWriter(), "tokenizer.ggml.model is missing");
}

TEST(MalformedVocabulary, MergesAreMissingOrNoPairs) {
  expect_error(tiny_byte_level().remove("tokenizer.ggml.merges"), "tokenizer.ggml.merges is missing");
  expect_error(tiny_byte_level().set("tokenizer.ggml.merges", std::vector<float>{1}),
               "tokenizer.ggml.merges is an array of");
  for (const char* pair : {"", " ", "a", "ab", "a ", " a"}) {
    expect_error(tiny_byte_level().set("tokenizer.ggml.merges", Texts{"h e", pair}),
                 fmt::format("tokenizer.ggml.merges is \"{}\" at 1", pair));
  }
}

}  // namespace
}  // namespace spectr
