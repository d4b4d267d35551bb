#include "spectr/text/vocabulary.h"

#include <gmock/gmock.h>

#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(Vocabulary, TellsWhatTheFileSaysOfATokens) {
  const Vocabulary vocabulary = load_vocabulary(tiny_sentencepiece()).value();
  EXPECT_EQ(vocabulary.source(), "tiny.gguf");
  EXPECT_EQ(vocabulary.type(), TokenizerType::sentencepiece);
  EXPECT_EQ(vocabulary.size(), 269U);
  EXPECT_EQ(vocabulary.text(261), "abc");
  EXPECT_EQ(vocabulary.score(261), -3.0F);
  EXPECT_EQ(vocabulary.kind(268), TokenKind::user_defined);
  EXPECT_THAT(vocabulary.find("abc"), Optional(261));
  EXPECT_EQ(vocabulary.find("abcd"), std::nullopt);
  EXPECT_THAT(vocabulary.byte_token(0x0A), Optional(13));
  EXPECT_EQ(vocabulary.byte(13), '\n');
}

TEST(Vocabulary, PlainTextBecomesNoControlUnknownOrByteToken) {
  const Vocabulary vocabulary = load_vocabulary(tiny_sentencepiece()).value();
  for (const char* text : {"<unk>", "<s>", "<0x41>"}) {
    EXPECT_TRUE(vocabulary.find(text)) << text;
    EXPECT_FALSE(vocabulary.find_plain(text)) << text;
  }
  EXPECT_THAT(vocabulary.find_plain("<tool>"), Optional(268));
}

TEST(Vocabulary, IdsThatTheFileDoesNotGiveHaveTheFormatsDefaults) {
  const Vocabulary spm = load_vocabulary(tiny_sentencepiece()).value();
  EXPECT_THAT(spm.unknown(), Optional(0));
  EXPECT_THAT(spm.bos(), Optional(1));
  EXPECT_THAT(spm.eos(), Optional(2));
  EXPECT_TRUE(spm.add_bos());

  GgufWriter writer = tiny_byte_level();
  writer.remove("tokenizer.ggml.bos_token_id").remove("tokenizer.ggml.eos_token_id");
  const Vocabulary byte_level = load_vocabulary(writer).value();
  EXPECT_EQ(byte_level.unknown(), std::nullopt);
  EXPECT_EQ(byte_level.bos(), std::nullopt) << "token 11 is a comma here, not Falcon's control token";
  EXPECT_FALSE(byte_level.add_bos());
}

TEST(Vocabulary, FalconsDefaultIsAControlToken) {
  GgufWriter writer = tiny_byte_level();
  std::vector<std::string> texts(12);
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = std::string(1, static_cast<char>('a' + i));
  std::vector<std::int32_t> kinds(12, 1);
  kinds[11] = 3;
  writer.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.token_type", kinds);
  writer.remove("tokenizer.ggml.bos_token_id").remove("tokenizer.ggml.eos_token_id");
  EXPECT_THAT(load_vocabulary(writer).value().eos(), Optional(11));
}

TEST(Vocabulary, TheRulesOfLlama3AndTekkenBeginTextsWithBosUnlessTheFileSaysOtherwise) {
  EXPECT_TRUE(load_vocabulary(tiny_byte_level("llama-bpe")).value().add_bos());
  EXPECT_TRUE(load_vocabulary(tiny_byte_level("tekken")).value().add_bos());
  EXPECT_FALSE(load_vocabulary(tiny_byte_level("qwen2")).value().add_bos());
  GgufWriter without = tiny_byte_level("llama-bpe");
  without.set("tokenizer.ggml.add_bos_token", false);
  EXPECT_FALSE(load_vocabulary(without).value().add_bos());
  GgufWriter with = tiny_byte_level("qwen2");
  with.set("tokenizer.ggml.add_bos_token", true);
  EXPECT_TRUE(load_vocabulary(with).value().add_bos());
}

TEST(Vocabulary, TextsEndAtTheEndOfTurnTokensToo) {
  GgufWriter writer = tiny_byte_level();
  writer.set("tokenizer.ggml.eos_token_id", 5U).set("tokenizer.ggml.eot_token_id", 7U);
  writer.set("tokenizer.ggml.eom_token_id", 6U);
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  EXPECT_THAT(vocabulary.ends(), ElementsAre(5, 6, 7, 262)) << "262 is <|im_end|>";
  EXPECT_TRUE(vocabulary.is_end(262));
  EXPECT_FALSE(vocabulary.is_end(261));
}

TEST(Vocabulary, TextsEndWhereACompletionInTheMiddleOfAFileDoes) {
  GgufWriter writer = tiny_byte_level();
  writer.set("tokenizer.ggml.eos_token_id", 5U).set("tokenizer.ggml.fim_pad_token_id", 7U);
  writer.set("tokenizer.ggml.fim_rep_token_id", 8U).set("tokenizer.ggml.fim_sep_token_id", 9U);
  EXPECT_THAT(load_vocabulary(writer).value().ends(), ElementsAre(5, 7, 8, 9, 262)) << "262 is <|im_end|>";
}

TEST(Vocabulary, AGapIsMarkedByTheTokensThatTheFileGives) {
  GgufWriter writer = tiny_byte_level();
  writer.set("tokenizer.ggml.fim_pre_token_id", 10U).set("tokenizer.ggml.prefix_token_id", 20U);
  writer.set("tokenizer.ggml.suffix_token_id", 11U).set("tokenizer.ggml.middle_token_id", 12U);
  writer.set("tokenizer.ggml.fim_sep_token_id", 13U);
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  const InfillTokens& marks = vocabulary.infill();
  EXPECT_THAT(marks.prefix, Optional(10)) << "the newer key";
  EXPECT_THAT(marks.suffix, Optional(11));
  EXPECT_THAT(marks.middle, Optional(12));
  EXPECT_EQ(marks.repository, std::nullopt);
  EXPECT_THAT(marks.file, Optional(13));
  EXPECT_TRUE(vocabulary.is_end(13));
  EXPECT_FALSE(vocabulary.is_end(12));
}

TEST(Vocabulary, AGapIsMarkedByTokensThatAreKnownByTheirTexts) {
  GgufWriter writer = tiny_sentencepiece();
  const std::vector<std::string> texts = {"</s>",           "<|fim_prefix|>", "<|fim_suffix|>",
                                          "<|fim_middle|>", "<|repo_name|>",  "<|file_sep|>"};
  writer.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.scores", std::vector<float>(texts.size()));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{3, 4, 4, 1, 3, 4});
  writer.set("tokenizer.ggml.eos_token_id", 0U);
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  EXPECT_THAT(vocabulary.infill().prefix, Optional(1));
  EXPECT_THAT(vocabulary.infill().suffix, Optional(2));
  EXPECT_EQ(vocabulary.infill().middle, std::nullopt) << "the file calls it normal text";
  EXPECT_THAT(vocabulary.infill().repository, Optional(4));
  EXPECT_THAT(vocabulary.infill().file, Optional(5));
  EXPECT_EQ(vocabulary.kind(1), TokenKind::control) << "code that has its text does not become the token";
  EXPECT_THAT(vocabulary.ends(), ElementsAre(0, 4, 5));
}

TEST(Vocabulary, NormalTextThatLooksLikeAnEndIsNone) {
  GgufWriter writer = tiny_sentencepiece();
  const std::vector<std::string> texts = {"<unk>", "<s>", "<|end|>", "<|im_end|>", "<|eot_id|>"};
  writer.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.scores", std::vector<float>(5));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 1, 1, 4});
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  EXPECT_THAT(vocabulary.ends(), ElementsAre(2, 4)) << "2 by its id, 4 by its text";
  EXPECT_EQ(vocabulary.kind(4), TokenKind::control);
}

/// Returns a SentencePiece vocabulary of control tokens.
GgufWriter control_tokens(const std::vector<std::string>& texts) {
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.scores", std::vector<float>(texts.size()));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>(texts.size(), 3));
  return writer.set("tokenizer.ggml.eos_token_id", 0U);
}

TEST(Vocabulary, AMessageOfGptOssIsNotTheEndOfItsAnswer) {
  const std::vector<std::string> texts = {"<|return|>", "<|call|>", "<|end|>", "<|channel|>", "<|message|>"};
  GgufWriter writer = control_tokens(texts);
  writer.set("tokenizer.ggml.eot_token_id", 2U);
  const Vocabulary harmony = load_vocabulary(writer).value();
  EXPECT_THAT(harmony.ends(), ElementsAre(0, 1));
  EXPECT_FALSE(harmony.is_printed(0));
  for (const Token token : {2, 3, 4}) EXPECT_TRUE(harmony.is_printed(token)) << token;
  const Vocabulary phi3 = load_vocabulary(control_tokens({"</s>", "<|user|>", "<|end|>"})).value();
  EXPECT_THAT(phi3.ends(), ElementsAre(0, 2));
  EXPECT_FALSE(phi3.is_printed(2));
}

TEST(Vocabulary, ATurnOfGemma4EndsATextAndStruckOutTextDoesNot) {
  const Vocabulary gemma4 =
      load_vocabulary(control_tokens({"<eos>", "<turn|>", "<|tool_response>", "</s>", "<|channel>"})).value();
  EXPECT_THAT(gemma4.ends(), ElementsAre(0, 1, 2));
  EXPECT_TRUE(gemma4.is_printed(3));
  EXPECT_TRUE(gemma4.is_printed(4));
}

TEST(Vocabulary, ControlTokensThatMarkThoughtsArePrinted) {
  const auto tokenizer = good_tokenizer(control_tokens({"</s>", "[THINK]", "[/THINK]", "[INST]"}));
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{3, 1, 2, 0}), "[THINK][/THINK]");
  EXPECT_EQ(tokenizer->decode(std::vector<Token>{3, 1, 2, 0}, true), "[INST][THINK][/THINK]</s>");
}

TEST(Vocabulary, TextIsComposedForQwen2AndGptNeoxAndForNobodyElse) {
  EXPECT_TRUE(load_vocabulary(tiny_byte_level("qwen2")).value().composes());
  EXPECT_TRUE(load_vocabulary(tiny_byte_level("deepseek-r1-qwen")).value().composes());
  for (const char* name : {"qwen35", "gpt-2", "megrez", "llama-bpe", "gpt-4o"})
    EXPECT_FALSE(load_vocabulary(tiny_byte_level(name)).value().composes()) << name;
  GgufWriter neox = tiny_byte_level();
  neox.remove("tokenizer.ggml.pre").set("general.architecture", "gptneox");
  EXPECT_TRUE(load_vocabulary(neox).value().composes());
  neox.set("general.architecture", "gpt2");
  EXPECT_FALSE(load_vocabulary(neox).value().composes());
}

TEST(Vocabulary, CodeLlamasEndBeginsWithAVisibleSpace) {
  GgufWriter writer = tiny_sentencepiece();
  writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", "\u2581<EOT>"});
  writer.set("tokenizer.ggml.scores", std::vector<float>(4));
  writer.set("tokenizer.ggml.token_type", std::vector<std::int32_t>{2, 3, 3, 3});
  EXPECT_THAT(load_vocabulary(writer).value().ends(), ElementsAre(2, 3));
}

TEST(Vocabulary, WithoutTokenTypesKindsFollowFromIdsAndTexts) {
  GgufWriter writer = tiny_sentencepiece();
  writer.remove("tokenizer.ggml.token_type").remove("tokenizer.ggml.scores");
  const Vocabulary vocabulary = load_vocabulary(writer).value();
  EXPECT_EQ(vocabulary.kind(0), TokenKind::unknown);
  EXPECT_EQ(vocabulary.kind(1), TokenKind::control);
  EXPECT_EQ(vocabulary.kind(2), TokenKind::control);
  EXPECT_EQ(vocabulary.kind(3), TokenKind::byte);
  EXPECT_EQ(vocabulary.kind(261), TokenKind::normal);
  EXPECT_EQ(vocabulary.score(261), 0.0F);
}

TEST(Vocabulary, SurvivesBeingMoved) {
  Vocabulary first = load_vocabulary(tiny_sentencepiece()).value();
  const Vocabulary second = std::move(first);
  EXPECT_THAT(second.find("a"), Optional(265));
  EXPECT_EQ(second.text(265), "a");
}

}  // namespace
}  // namespace spectr
