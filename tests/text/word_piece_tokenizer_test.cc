// Word-piece tokenization. References: tests/data/encoders/make.py, by Hugging Face's tokenizers.
#include "spectr/text/wordpiece/word_piece_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/tiny_vocabularies.h"

namespace spectr {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

/// Returns a vocabulary in which [UNK], [CLS], [SEP] are 0, 1, 2, followed by words and pieces.
GgufWriter tiny_word_piece(const std::vector<std::string>& pieces) {
  std::vector<std::string> tokens = {"[UNK]", "[CLS]", "[SEP]"};
  tokens.insert(tokens.end(), pieces.begin(), pieces.end());
  std::vector<std::int32_t> kinds(tokens.size(), 1);
  for (std::size_t i = 0; i < 3; ++i) kinds[i] = 3;
  GgufWriter writer;
  writer.set("tokenizer.ggml.model", "bert")
      .set("tokenizer.ggml.tokens", tokens)
      .set("tokenizer.ggml.token_type", kinds)
      .set("tokenizer.ggml.unknown_token_id", 0U)
      .set("tokenizer.ggml.cls_token_id", 1U)
      .set("tokenizer.ggml.seperator_token_id", 2U);
  return writer;
}

std::vector<std::string> reference_pieces() {
  const auto file = Gguf::open(source_folder() / "tests/data/encoders/bert-f32.gguf").value();
  const auto tokens = file.strings("tokenizer.ggml.tokens").value();
  return {tokens.begin(), tokens.end()};
}

TEST(WordPieceTokenizer, GivesTheIdsOfTheReference) {
  const auto file = Gguf::open(source_folder() / "tests/data/encoders/bert-f32.gguf").value();
  const auto tokenizer = Tokenizer::load(file).value();
  const auto cases =
      nlohmann::json::parse(std::ifstream(source_folder() / "tests/data/encoders/wordpiece.json"));
  ASSERT_GT(cases.size(), 30U);
  for (const auto& one : cases) {
    const auto text = one["text"].get<std::string>();
    const bool trusted = text.contains("[SEP]");  // the reference parses it as a token
    EXPECT_THAT(tokenizer->encode(text, {.add_bos = false, .parse_special = trusted}),
                ElementsAreArray(one["ids"].get<std::vector<Token>>()))
        << testing::PrintToString(text);
  }
}

TEST(WordPieceTokenizer, KeepsCaseAndAccentsWhereTheFileSaysSo) {
  GgufWriter writer = tiny_word_piece({});
  auto kinds = std::vector<std::int32_t>(reference_pieces().size(), 1);
  for (std::size_t i = 0; i < 5; ++i) kinds[i] = 3;
  writer.set("tokenizer.ggml.tokens", reference_pieces())
      .set("tokenizer.ggml.token_type", kinds)
      .set("tokenizer.ggml.unknown_token_id", 1U)
      .set("tokenizer.ggml.normalizer.lowercase", false);
  const auto tokenizer = good_tokenizer(writer);
  const auto cases =
      nlohmann::json::parse(std::ifstream(source_folder() / "tests/data/encoders/wordpiece.json"));
  for (const auto& one : cases) {
    const auto text = one["text"].get<std::string>();
    EXPECT_THAT(tokenizer->encode(text, {.add_bos = false, .parse_special = text.contains("[SEP]")}),
                ElementsAreArray(one["cased"].get<std::vector<Token>>()))
        << testing::PrintToString(text);
  }
}

TEST(WordPieceTokenizer, PutsTextsBetweenClsAndSep) {
  const auto tokenizer = good_tokenizer(tiny_word_piece({"\u2581a", "b"}));
  EXPECT_THAT(tokenizer->encode("ab", {.add_eos = true}), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(tokenizer->encode("", {.add_eos = true}), ElementsAre(1, 2));
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(1, 3, 4)) << "a text that may go on";
  EXPECT_EQ(tokenizer->vocabulary().eos(), 2);
  GgufWriter newer = tiny_word_piece({"\u2581a"});
  newer.remove("tokenizer.ggml.cls_token_id").set("tokenizer.ggml.bos_token_id", 1U);
  EXPECT_THAT(good_tokenizer(newer)->encode("a"), ElementsAre(1, 3));
}

TEST(WordPieceTokenizer, TakesTheLongestPieceAndGivesUpAWordWithAnUnknownPart) {
  const auto tokenizer = good_tokenizer(tiny_word_piece({"\u2581a", "b", "bc", "\u2581ab", "d"}));
  constexpr TokenizeOptions bare = {.add_bos = false};
  EXPECT_THAT(tokenizer->encode("abc", bare), ElementsAre(0)) << "▁ab leaves c: the first choice stays";
  EXPECT_THAT(tokenizer->encode("abd", bare), ElementsAre(6, 7));
  EXPECT_THAT(tokenizer->encode("a abz a", bare), ElementsAre(3, 0, 3));
  EXPECT_THAT(tokenizer->encode("bc", bare), ElementsAre(0)) << "a piece begins no word";
}

TEST(WordPieceTokenizer, DropsBytesThatAreNoText) {
  const auto tokenizer = good_tokenizer(tiny_word_piece({"\u2581a", "b"}));
  EXPECT_THAT(tokenizer->encode("a\xff\x80"
                                "b\xc3",
                                {.add_bos = false}),
              ElementsAre(3, 4));
}

TEST(WordPieceTokenizer, WritesWordsDividedBySpaces) {
  const auto tokenizer = good_tokenizer(tiny_word_piece({"\u2581a", "b", "\u2581,"}));
  const auto tokens = tokenizer->encode("A, ab", {.add_eos = true});
  EXPECT_EQ(tokenizer->decode(tokens), "a , ab");
}

TEST(BasicWords, DivideAtBlanksMarksAndChineseCharacters) {
  EXPECT_THAT(basic_words("It's 5%, ok?", {}), ElementsAre("it", "'", "s", "5", "%", ",", "ok", "?"));
  EXPECT_THAT(basic_words("a中b", {}), ElementsAre("a", "中", "b"));
  EXPECT_THAT(basic_words("Éa", {.lower_case = false, .strip_accents = true}), ElementsAre("Ea"));
  EXPECT_THAT(basic_words("Éa", {.lower_case = true, .strip_accents = false}), ElementsAre("éa"));
}

}  // namespace
}  // namespace spectr
